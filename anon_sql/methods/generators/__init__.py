"""Generators of synthetic records, made of the values of real rows."""
