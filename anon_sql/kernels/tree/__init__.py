"""Kernels that cut a table into the leaves of a tree."""
