"""Numba kernels: arrays in, arrays out. They never raise and know nothing of SQL."""
