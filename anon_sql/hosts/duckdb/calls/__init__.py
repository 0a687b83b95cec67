"""The Python functions that SQL macros call.

Each module converts Arrow arguments, calls the core and returns Arrow values. ``install`` imports
every module here; the decorator ``@udf`` makes a function callable from SQL.
"""
