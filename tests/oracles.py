"""Plain measures and tables for the tests, independent of the product's own."""

import numpy as np

from anon_sql.core.columns import Numbers
from anon_sql.core.table import QuasiTable
from anon_sql.methods.method import find_method


def adds_rows(method):
    """Whether a release has rows that the table has not."""
    return find_method(method).perturbative


def quoted(names):
    return ", ".join('"' + name.replace('"', '""') + '"' for name in names)


def sizes(con, release, names):
    """Rows in each group of equal labels."""
    rows = con.execute(f"SELECT count(*) FROM {release} GROUP BY {quoted(names)}").fetchall()
    return [row[0] for row in rows]


def gcp(con, raw, release, names):
    """GCP of a label release without NULLs or suppressed rows, worked out in Python."""
    total = 0.0
    rows = con.execute(f"SELECT count(*) FROM {raw}").fetchall()[0][0]
    for name in names:
        column = quoted([name])
        values = con.execute(f"SELECT {column}::VARCHAR AS v FROM {raw}").fetchnumpy()["v"]
        labels = con.execute(f"SELECT {column}, count(*) FROM {release} GROUP BY ALL").fetchall()
        numeric = con.sql(f"SELECT {column} FROM {raw} LIMIT 0").types[0] != "VARCHAR"
        if numeric:
            numbers = np.array(values, dtype=float)
            width = numbers.max() - numbers.min()
            for label, count in labels:
                low, _, high = label.strip("[]").partition(", ")
                total += count * (float(high or low) - float(low)) / width
        else:
            distinct = len(set(values))
            for label, count in labels:
                members = label[1:-1].split(", ") if label.startswith("{") else [label]
                total += count * (len(members) / distinct if len(members) > 1 else 0.0)
    return total / (rows * len(names))


def table_of(points):
    """A numeric table whose points are given, rows in canonical order."""
    points = np.asarray(points, dtype=np.float64)
    present = np.ones(len(points), dtype=bool)
    columns = tuple(
        Numbers(f"c{at}", (points[:, at] * 2**40).astype(np.int64), points[:, at], present, 1.0)
        for at in range(points.shape[1])
    )
    return QuasiTable(columns, np.arange(len(points), dtype=np.int32))
