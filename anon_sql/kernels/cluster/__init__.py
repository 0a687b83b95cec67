"""Kernels that grow groups of near rows and exchange rows between groups."""
