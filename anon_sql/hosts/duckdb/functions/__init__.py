"""What the macros call, a file per group of SQL functions; ``@udf`` registers each."""
