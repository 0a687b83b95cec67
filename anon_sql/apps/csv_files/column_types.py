"""Choose the type of each column of texts: one that every text keeps its meaning in, or text.

A column is a number, a date or a time only if all its texts are written as DuckDB would print
them, up to zeros after the decimal point, an exponent with a sign, and a T between date and time.
So ``00123``, ``+49``, ``1e5``, ``31.12.2020`` and ``12:00+02`` stay text, with their columns.
"""

import duckdb

from anon_sql.core.names import quote

_SAMPLE = 2_000  # rows that say which types are worth a look at all rows
_PLAIN = r"-?(0|[1-9]\d*)?(\.\d+)?"
_DOUBLE = r"-?(0|[1-9]\d{0,14})?(\.\d+)?([eE][+-]\d{1,3})?"
_DIGITS = 17  # significant digits that a DOUBLE keeps apart
_MOSTLY = 10  # a column of numbers has at most one text that is none in so many
_WIDEST = 38  # digits of a DECIMAL
_TIMESTAMP = r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?"
_PRINTED = "coalesce(TRY_CAST({x} AS {kind})::VARCHAR = {x}, false)"
_MANTISSA = "ltrim(regexp_replace(lower({x}), 'e.*|[.-]', '', 'g'), '0')"
_CONDITIONS = {
    "BOOLEAN": _PRINTED,
    "BIGINT": _PRINTED,
    "HUGEINT": _PRINTED,
    "DOUBLE": "(coalesce(isfinite(TRY_CAST({x} AS DOUBLE)), false) "
    f"AND regexp_full_match({{x}}, '{_DOUBLE}') AND CASE WHEN length({{x}}) <= {_DIGITS} THEN true "
    f"ELSE length({_MANTISSA}) <= {_DIGITS} END)",
    "DECIMAL": f"(regexp_full_match({{x}}, '{_PLAIN}') AND {{x}} NOT IN ('-', ''))",
    "DATE": _PRINTED,
    "TIME": _PRINTED,
    "TIMESTAMP": "(TRY_CAST({x} AS TIMESTAMP) IS NOT NULL "
    f"AND regexp_full_match({{x}}, '{_TIMESTAMP}'))",
}
_FIRST = next(iter(_CONDITIONS))  # what a column without values would become


def types(con: duckdb.DuckDBPyConnection, texts: str, columns: int) -> list[str]:
    """Return the type of each column of the table ``texts``, whose columns are f0, f1, …"""
    left = {at: list(_CONDITIONS) for at in range(columns)}
    hold = _all_hold(con, f"(FROM {quote(texts)} LIMIT {_SAMPLE})", left)
    left = {at: [kind for kind in kinds if hold[at, kind]] for at, kinds in left.items()}
    found = dict.fromkeys(range(columns), "VARCHAR")
    while left := {at: kinds for at, kinds in left.items() if kinds}:
        hold = _all_hold(con, quote(texts), {at: kinds[:1] for at, kinds in left.items()})
        for (at, kind), fits in hold.items():
            if fits:
                found[at] = kind
                del left[at]
            else:
                left[at] = left[at][1:]
    decimals = [at for at, kind in found.items() if kind == "DECIMAL"]
    found |= {at: _decimal(con, texts, at) for at in decimals}
    for at in [
        at for at, kind in found.items() if kind == _FIRST and not _has_values(con, texts, at)
    ]:
        found[at] = "VARCHAR"
    return [found[at] for at in range(columns)]


def nearly_numbers(con: duckdb.DuckDBPyConnection, texts: str, at: int) -> tuple[int, int, int]:
    """Return the texts of a column that are no numbers, all its texts, and the first such row.

    The first row is 0 if most texts are no numbers, or all are.
    """
    x = _bare(at)
    other = f"{x} IS NOT NULL AND NOT {_CONDITIONS['DOUBLE'].replace('{x}', x)}"
    row = con.execute(
        f"SELECT count(*) FILTER ({other}), count({x}), min(rowid) FILTER ({other}) "
        f"FROM {quote(texts)}"
    ).fetchone()
    wrong, count, first = row or (0, 0, None)
    return wrong, count, 0 if first is None or wrong * _MOSTLY > count else int(first) + 1


def typed(at: int, kind: str) -> str:
    """Return the SQL of a column of texts, cast to its type."""
    return quote(f"f{at}") if kind == "VARCHAR" else f"CAST({_bare(at)} AS {kind})"


def _bare(at: int) -> str:
    """Return the SQL of a text without blanks around it, NULL if nothing is left."""
    return f"nullif(trim({quote(f'f{at}')}), '')"


def _all_hold(
    con: duckdb.DuckDBPyConnection, relation: str, asked: dict[int, list[str]]
) -> dict[tuple[int, str], bool]:
    """Return whether all texts of a column can have a type, by column and type."""
    pairs = [(at, kind) for at, kinds in asked.items() for kind in kinds]
    sql = ", ".join(_holds(_bare(at), kind) for at, kind in pairs)
    row = con.execute(f"SELECT {sql} FROM {relation}").fetchone() or ()
    return dict(zip(pairs, row, strict=True))


def _holds(text: str, kind: str) -> str:
    condition = _CONDITIONS[kind].replace("{x}", text).replace("{kind}", kind)
    return f"coalesce(bool_and({condition}) FILTER ({text} IS NOT NULL), true)"


def _decimal(con: duckdb.DuckDBPyConnection, texts: str, at: int) -> str:
    """Return the DECIMAL that holds all digits of a column of plain numbers, or VARCHAR."""
    x = f"ltrim({_bare(at)}, '-')"
    whole, part = f"length(split_part({x}, '.', 1))", f"length(split_part({x}, '.', 2))"
    row = con.execute(f"SELECT max({whole}), max({part}) FROM {quote(texts)}").fetchone()
    digits, scale = row or (0, 0)
    width = (digits or 0) + (scale or 0)
    return f"DECIMAL({width}, {scale})" if 0 < width <= _WIDEST else "VARCHAR"


def _has_values(con: duckdb.DuckDBPyConnection, texts: str, at: int) -> bool:
    return con.execute(f"SELECT count({_bare(at)}) > 0 FROM {quote(texts)}").fetchall() == [(True,)]
