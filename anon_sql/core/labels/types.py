"""The formats of a release, and the SQL type of a released quasi-identifier in each of them.

- 'label': text.
- 'typed': STRUCT(min T, max T) for numbers, dates and times of type T, VARCHAR[] for text.
- 'mean', 'median': one value of each class for numbers, dates and times, text for the others.
- 'midpoint': likewise, and of text the value of a class that has only one.

``sql/internal/anon_release.sql`` chooses the same types by overloads, because DuckDB must know them
when it binds a statement, before any Python runs.
"""

import pyarrow as pa

from anon_sql.core.columns import is_number

AVERAGES = ("mean", "median")  # formats that show an average of the values of each class
MIDPOINT = "midpoint"  # of the range that the format 'label' shows
ONE_VALUE = (*AVERAGES, MIDPOINT)  # formats that show one value of each class instead of a range
FORMATS = ("label", "typed", *ONE_VALUE)
MEANING = (
    "'label' (text), 'typed' (structs and lists), or 'mean', 'median' or 'midpoint' (one value per "
    "class instead of a range of numbers, dates or times)"
)
LABEL, SET = "VARCHAR", "VARCHAR[]"


def released_type(function: str, name: str, sql_type: str, form: str) -> str:
    """Return the SQL type in which a quasi-identifier is released; sql_type: of its values."""
    if is_one_value(function, name, sql_type, form):
        return type_of(sql_type, form)
    if form != "typed":
        return LABEL
    number = is_number(function, name, sql_type)
    return f"STRUCT(min {sql_type}, max {sql_type})" if number else SET


def is_range(released: str) -> bool:
    """Return whether a released type is that of ranges in the format 'typed'."""
    return released.startswith("STRUCT(")


def is_printed(released: str) -> bool:
    """Return whether labels are released as they are printed, without a cast."""
    return released in (LABEL, SET)


def arrow_type(released: str, kind: pa.DataType) -> pa.DataType:
    """Return the Arrow type of a released type; kind: the Arrow type of the values."""
    if is_printed(released):
        return pa.string() if released == LABEL else pa.list_(pa.string())
    if is_range(released):
        return pa.struct([("min", kind), ("max", kind)])
    return pa.float64() if released == "DOUBLE" else kind


def is_one_value(function: str, name: str, sql_type: str, form: str) -> bool:
    """Return whether a column is shown as one value of each class."""
    return form in ONE_VALUE and is_number(function, name, sql_type)


def type_of(sql_type: str, form: str) -> str:
    """Return the SQL type of the single values of a column of numbers, dates or times."""
    timed = sql_type.startswith(("DATE", "TIME"))
    return sql_type if timed or form == "median" else "DOUBLE"
