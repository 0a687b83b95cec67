"""Compute one release from Arrow columns: partition, constraints, labels, check and row order.

Modules here import from ``methods`` and the layers below it only.
"""
