"""Kernels for constraints on classes (k, l, t) and for values covered by labels."""
