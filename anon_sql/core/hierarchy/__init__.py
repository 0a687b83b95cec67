"""Generalization hierarchies: their rows, the paths in them, and the tree of an attribute."""
