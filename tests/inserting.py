"""Fill a table with many rows at once, since ``executemany`` runs one statement per row."""

import pyarrow as pa


def insert(con, name, rows):
    """Append rows, sequences of Python values, to a table; values are cast to its columns."""
    columns = [*zip(*rows, strict=True)]
    if columns:
        con.from_arrow(
            pa.table({f"c{at}": pa.array(values) for at, values in enumerate(columns)})
        ).insert_into(name)
