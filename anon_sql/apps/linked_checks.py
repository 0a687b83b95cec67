"""Check the folder of linked tables against their manifest and the raw tables.

Every figure of the manifest is counted again in SQL that the release does not use.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from anon_sql.apps.recorded import (
    Check,
    as_written,
    is_equal,
    not_checked,
    of_audit,
    recorded,
)
from anon_sql.apps.verdict.figures import loss_calls, rows_of
from anon_sql.core.columns import is_number
from anon_sql.core.labels.types import ONE_VALUE
from anon_sql.core.names import exactly, literal, quote
from anon_sql.hosts.duckdb.linked_audit import LinkedAudit
from anon_sql.hosts.linked_manifest import schema_of
from anon_sql.linked.schema import Node, Schema

FILES = 2  # checks of files; if one of them fails, there are no others

_COUNTED = ("rows", "unlinked", "raw_rows", "left_out", "orphans", "gcp")
_BEFORE, _AFTER = "__anon_linked_raw", "__anon_linked_released"  # of one table
_DECIDING = ("required", "found", "passed")  # of a check


Raw = Callable[[str], str]


@dataclass(frozen=True)
class Tables:
    """The released tables as views of a connection, beside the raw tables if they are there.

    columns: SQL types of the released columns by table. raw: returns the SQL of a raw table. trees:
    the relation of the hierarchies.
    """

    con: duckdb.DuckDBPyConnection
    written: Mapping[str, Any]
    schema: Schema
    columns: Mapping[str, Mapping[str, str]]
    raw: Raw | None
    trees: str | None

    @property
    def audit(self) -> LinkedAudit:
        """Return the audit of the tables."""
        parameters = self.written["parameters"]
        can_compare = self.trees is not None or not parameters["hierarchy"]
        return LinkedAudit(
            self.schema,
            self.raw,
            view_of,
            self.columns,
            parameters["k"],
            float(parameters["l"]),
            truth=parameters["format"] not in ONE_VALUE and can_compare,
            hierarchy=self.trees,
        )

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Return the rows of a statement."""
        return rows_of(self.con, sql)


def view_of(name: str) -> str:
    """Return the view of a released table, as SQL."""
    return quote(f"__anon_released_{name}")


def missing(con: duckdb.DuckDBPyConnection, written: Mapping[str, Any], raw: Raw) -> list[str]:
    """Return the tables and columns of a manifest that the raw tables lack."""
    lacking = []
    for name, table in written["tables"].items():
        try:
            types = _types(con, raw(name))
        except duckdb.Error:
            lacking.append(name)
            continue
        links = [c for each in written["links"] if each["child"] == name for c in each["columns"]]
        named = [
            *(c for columns in table["roles"].values() for c in columns),
            *table["keys"],
            *links,
        ]
        lacking += [f"{name}.{column}" for column in dict.fromkeys(named) if column not in types]
    return lacking


def tables_of(
    con: duckdb.DuckDBPyConnection,
    written: Mapping[str, Any],
    folder: Path,
    raw: Raw | None,
    trees: str | None,
) -> Tables:
    """Make views of the released files, labels of a CSV as text whatever they look like."""
    stated = {
        name: dict.fromkeys(table["columns"], "") for name, table in written["tables"].items()
    }
    types = None if raw is None else {name: _types(con, raw(name)) for name in stated}
    plan = schema_of(written, stated, types)
    for file in written["output"]["files"]:
        path = folder / file
        name, node = path.stem, plan.nodes.get(path.stem)
        if file.endswith(".csv"):
            source = _csv(path, node, None if types is None else types.get(name))
        else:
            source = f"FROM read_parquet({literal(exactly(path))}, hive_partitioning := false)"
        con.execute(f"CREATE OR REPLACE TEMP VIEW {view_of(name)} AS {source}")
    columns = {name: _types(con, view_of(name)) for name in stated}
    return Tables(con, written, schema_of(written, columns, types), columns, raw, trees)


def _types(con: duckdb.DuckDBPyConnection, relation: str) -> dict[str, str]:
    return {row[0]: row[1] for row in con.execute(f"DESCRIBE FROM {relation}").fetchall()}


def _csv(path: Path, node: Node | None, types: Mapping[str, str] | None) -> str:
    """Return a query of a CSV file: keys are whole numbers, kept columns as in the raw table."""
    casts = {}
    if node is not None:
        casts = dict.fromkeys(node.renewed, "BIGINT")
        casts |= {name: str((types or {})[name]) for name in node.kept if name in (types or {})}
    listed = ", ".join(f"{quote(name)}::{kind} AS {quote(name)}" for name, kind in casts.items())
    replaced = f" REPLACE ({listed})" if listed else ""
    read = f"read_csv({literal(exactly(path))}, header = true, all_varchar = true, delim = ',', "
    return f"SELECT *{replaced} FROM {read}quote = '\"', escape = '\"', allow_quoted_nulls = false)"


def checked(tables: Tables) -> Iterator[Check]:
    """Check the tables: their columns, every figure of the manifest, and the audit."""
    written = tables.written
    for name, table in written["tables"].items():
        same = sorted(tables.columns[name]) == sorted(table["columns"])
        yield Check(f"columns of {name}: as written", same, "" if same else "other columns")
        if not same:
            return
    yield from _formats(tables)
    rows = audited(tables)
    here = [of_audit(row, written) for row in rows]
    yield from here
    if "checks" in written:
        now, stated = (
            {row["property"]: {name: row[name] for name in _DECIDING} for row in each}
            for each in (rows, written["checks"])
        )
        if tables.raw is None:  # only the raw tables decide the others
            stated = {name: row for name, row in stated.items() if name in now}
        yield as_written("checks", now, stated)
    for name, value, stated in figures(tables):
        same = is_equal(value, stated)
        yield Check(f"{name}: as written", same, "" if same else f"{value}, not {stated}")
    if tables.raw is None:
        yield not_checked("raw rows, rows left out, orphans and gcp: as written")
    elif written["parameters"]["format"] in ONE_VALUE:
        yield not_checked("means and medians: as the raw tables give them")
    yield from recorded(written, here)


def _formats(tables: Tables) -> Iterator[Check]:
    """Check that labels have the SQL types of the format; a CSV file tells none."""
    if any(name.endswith(".csv") for name in tables.written["output"]["files"]):
        return
    form = tables.written["parameters"]["format"]
    wrong = []
    for name, node in tables.schema.nodes.items():
        for column in node.quasi:
            shown = tables.columns[name][column]
            kinds = {"label": shown == "VARCHAR", "typed": shown.startswith("STRUCT")}
            is_of_format = kinds.get(form, not any(kinds.values()))
            if not is_of_format and (
                form == "label" or _is_number(node, column, tables.raw is not None)
            ):
                wrong.append(f"{name}.{column}")
    yield Check(f"the format is {form}", not wrong, ", ".join(wrong))


def _is_number(node: Node, column: str, has_raw: bool) -> bool:
    return has_raw and is_number("verify", column, node.table.types[column])


def audited(tables: Tables) -> list[dict[str, Any]]:
    """Return the rows of the audit of the released tables."""
    return tables.rows(tables.audit.statement())


class CountedFigure(NamedTuple):
    """A figure of the manifest that was counted again."""

    name: str
    counted: Any
    stated: Any


def figures(tables: Tables) -> Iterator[CountedFigure]:
    """Give each figure that was counted again; some need the raw tables."""
    written, audit = tables.written, tables.audit
    root = tables.schema.nodes[tables.schema.root]
    ((classes, least, persons),) = (
        tuple(row.values())
        for row in tables.rows(
            f"WITH {', '.join(audit.folds.ctes())} SELECT count(*), min(n), sum(n)::BIGINT FROM "
            f"(SELECT count(*) AS n FROM {audit.folds.name('path', root)} GROUP BY class)"
        )
    )
    yield CountedFigure("persons", persons or 0, written["persons"])
    yield CountedFigure("classes", classes, written["classes"])
    yield CountedFigure("smallest_class", least or 0, written["smallest_class"])
    for name, node in tables.schema.nodes.items():
        counted = _counts(tables, audit, node)
        for figure in _COUNTED:
            if figure in counted:
                stated = written["tables"][name][figure]
                yield CountedFigure(f"{figure} of {name}", counted[figure], stated)


def _counts(tables: Tables, audit: LinkedAudit, node: Node) -> dict[str, Any]:
    """Return the figures of a table that can be counted."""
    columns = node.link.columns if node.link else ()
    linked = " AND ".join(f"{quote(each)} IS NOT NULL" for each in columns) or "true"
    view = view_of(node.name)
    (row,) = tables.rows(
        f"SELECT count(*) FILTER ({linked}) AS rows, count(*) FILTER (NOT ({linked})) AS unlinked "
        f"FROM {view}"
    )
    if tables.raw is None:
        return row
    ((raw, tied),) = (
        tuple(each.values())
        for each in tables.rows(
            f"WITH {', '.join(audit.source.ctes())} SELECT "
            f"(SELECT count(*) FROM {tables.raw(node.name)}), "
            f"(SELECT count(*) FROM {audit.source.name('path', node)})"
        )
    )
    left = raw - row["rows"] - row["unlinked"]
    row |= {"raw_rows": raw, "left_out": left, "orphans": raw - tied}
    if tables.written["parameters"]["format"] not in ONE_VALUE:
        row["gcp"] = _gcp(tables, node, linked)
    return row


def _gcp(tables: Tables, node: Node, linked: str) -> float | None:
    """Return the mean loss of the labels of linked rows; None for a table without any."""
    assert tables.raw is not None
    shown = f"FROM {view_of(node.name)} WHERE {linked}"
    if not node.quasi or not tables.rows(f"SELECT 1 {shown} LIMIT 1"):
        return None
    tables.con.execute(
        f"CREATE OR REPLACE TEMP VIEW {_BEFORE} AS FROM {tables.raw(node.name)};"
        f"CREATE OR REPLACE TEMP VIEW {_AFTER} AS {shown}"
    )
    roles = {"quasi": node.quasi, "hierarchy": tables.trees}
    call, _ = loss_calls(roles, release_alone=True, tables=f"'{_BEFORE}', '{_AFTER}'")
    gcp: float | None = tables.rows(call)[0]["gcp"]
    return gcp
