"""Measures of a release: information loss, diversity and closeness.

They take the groups of a release and the domains of its raw table, or classes whose labels were
not printed, as Arrow arrays, and return numbers. They import from ``pipeline`` and below.
"""
