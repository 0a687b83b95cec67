"""Write plain SQL by which the recipient of a file checks k, l and the counts.

It runs in DuckDB's own command line, without this package and without the raw table.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb

from anon_sql.apps.files import FORMATS, in_database
from anon_sql.core.names import literal, quote, split

_RELATION = "{released}"


def checks(
    con: duckdb.DuckDBPyConnection, request: Mapping[str, Any], file: str
) -> list[dict[str, Any]]:
    """Return what is counted, the statement on the file, and the figure that it must give.

    request: quasi and sensitive. file: the name of the released file or folder.
    """
    source = _source(file)
    counted = []
    for what, sql in _statements(request):
        ((value,),) = con.execute(sql.replace(_RELATION, "released")).fetchall()
        counted.append({"what": what, "sql": sql.replace(_RELATION, source), "expected": value})
    return counted


def at_once(
    con: duckdb.DuckDBPyConnection, request: Mapping[str, Any], file: str
) -> dict[str, Any]:
    """Return one statement that counts rows, groups, k and the l of each sensitive column.

    figures: what it must give, by the names of its columns. Other arguments as of ``checks``.
    """
    labels = ", ".join(quote(name) for name in request["quasi"])
    sensitive = list(enumerate(request["sensitive"], 1))
    values = "".join(f", count(DISTINCT {quote(name)}) AS l{number}" for number, name in sensitive)
    least = "".join(f", min(l{number}) AS {quote(f'l of {name}')}" for number, name in sensitive)
    sql = (
        f"SELECT sum(n) AS rows, count(*) AS groups, min(n) AS k{least} "
        f"FROM (SELECT count(*) AS n{values} FROM {_RELATION} GROUP BY {labels})"
    )
    result = con.execute(sql.replace(_RELATION, "released"))
    names = [column[0] for column in result.description or []]
    (row,) = result.fetchall()
    figures = {n: None if each is None else int(each) for n, each in zip(names, row, strict=True)}
    return {"sql": sql.replace(_RELATION, _source(file)), "figures": figures}


def _statements(request: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Give statements with ``_RELATION`` in place of the release."""
    labels = ", ".join(quote(name) for name in request["quasi"])
    yield "rows", f"SELECT count(*) FROM {_RELATION}"
    groups = f"FROM {_RELATION} GROUP BY {labels}"
    yield "groups that look alike", f"SELECT count(*) FROM (SELECT 1 {groups})"
    of = "former ones included" if request.get("series") else "k"
    yield (
        f"rows of the smallest group ({of})",
        f"SELECT min(n) FROM (SELECT count(*) AS n {groups})",
    )
    for name in request["sensitive"]:
        values = f"SELECT count(DISTINCT {quote(name)}) AS n {groups}"
        yield f"fewest values of {name} in a group (l)", f"SELECT min(n) FROM ({values})"


def _source(file: str) -> str:
    """Return a released file as plain SQL reads it: labels are text.

    DuckDB alone reads no file of SPSS, SAS or Stata, which has to be loaded as ``released``.
    """
    if (stored := in_database(Path(file))) is not None:
        return ".".join(map(quote, split(stored[1])))
    ending = next((each for each in FORMATS if file.lower().endswith(each)), None)
    if ending is None:
        return literal(f"{file}/*.parquet")
    delimiter = "\\t" if ending.startswith(".tsv") else ","
    calls = {
        "parquet": literal(file),
        "workbook": f"read_xlsx({literal(file)}, header = true, all_varchar = true)",
        "json": f"read_json({literal(file)}, format = 'newline_delimited')",
        "csv": f"read_csv({literal(file)}, header = true, all_varchar = true, "
        f"delim = '{delimiter}')",
    }
    return calls.get(FORMATS[ending].name, "released")
