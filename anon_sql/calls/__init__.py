"""The functions that macros call, in the order of a release: binding, plan, partition, check.

``install`` finds every file here and in ``measures``; a function is SQL's by ``@udf`` alone.
"""
