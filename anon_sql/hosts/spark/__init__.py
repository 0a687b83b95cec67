"""Carry the rows of Spark DataFrames to the core and back (extra ``spark``, pyspark 4).

``pyspark`` is imported by the functions that need it. Modules here and in ``hosts.duckdb`` do not
share connections or sessions.
"""
