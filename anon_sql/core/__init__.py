"""Roles, columns, parameters, hierarchies and labels, shared by every host and method.

Functions take Arrow arrays and typed options and return arrays, dataclasses and Arrow tables.
Modules here may import ``kernels`` and ``errors`` only.
"""
