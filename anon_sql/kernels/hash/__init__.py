"""Kernels that hash, number and group rows."""
