"""Compute one release from Arrow columns: partition, constraints, labels, check and row order.

Modules here may import ``methods``, ``core``, ``kernels`` and ``errors`` only.
"""
