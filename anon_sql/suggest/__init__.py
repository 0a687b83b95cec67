"""Suggestions on a raw table: roles of columns, and sets of columns that single rows out.

May import from ``measures`` and below. Takes arrays and SQL types, and returns Arrow arrays.
Nothing here changes a table or a role.
"""
