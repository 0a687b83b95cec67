"""The studio: a page on this machine that leads from a table to a signed release.

Every figure on it is the result of a SQL function, and carries the statement it comes from.
"""
