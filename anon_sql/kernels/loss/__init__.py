"""Kernels for distances, outlier factors and the information loss of classes."""
