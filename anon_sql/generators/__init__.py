"""Synthetic records, made of the values of real rows."""
