"""Kernels that order rows and cut an order into groups."""
