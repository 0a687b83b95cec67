"""Numba kernels: arrays in, arrays out; they never raise and know nothing of SQL."""
