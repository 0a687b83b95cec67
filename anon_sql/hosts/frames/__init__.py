"""Release and measure pandas, Polars and PyArrow tables, relations of DuckDB and files.

Rows travel as Arrow from the frame to the core and back, and through no macro. What reads a release
is the macro of its name, on a private database that sees the frames.
"""
