"""List the names that can be typed: functions, tables, columns and keywords."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache

import duckdb

from anon_sql.core.names import quote
from anon_sql.hosts.duckdb import headers

_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True)
class Names:
    """tables: columns by table, which is as SQL writes it. rest: DuckDB's functions and keywords.
    quoted: the keywords that are no name without quotes."""

    tables: Mapping[str, tuple[str, ...]]
    rest: tuple[str, ...]
    quoted: frozenset[str]

    def written(self, name: str) -> str:
        """Return a name as SQL writes it, quoted if it must be."""
        return written(name, self.quoted)


def known(con: duckdb.DuckDBPyConnection) -> Names:
    """Return the present names of a database; none after a failed transaction."""
    try:
        columns = con.execute(
            "SELECT table_catalog = current_database() OR table_catalog = 'temp', "
            "table_schema = current_schema() OR table_catalog = 'temp', "
            "table_catalog, table_schema, table_name, column_name "
            "FROM information_schema.columns ORDER BY table_name, ordinal_position"
        ).fetchall()
        words = con.execute(
            "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category <> 'unreserved' "
            "ORDER BY ALL"
        ).fetchall()
        calls = con.execute(
            "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type IN "
            "('scalar', 'aggregate', 'macro', 'table') AND regexp_full_match(function_name, "
            "'[a-z][a-z0-9_]*') ORDER BY ALL"
        ).fetchall()
    except duckdb.Error:
        return Names({}, (), frozenset())
    quoted = frozenset(word for (word,) in words)
    tables: dict[str, tuple[str, ...]] = {}
    for here, default, database, schema, table, column in columns:
        parts = [*([] if here else [database]), *([] if here and default else [schema]), table]
        name = ".".join(written(part, quoted) for part in parts)
        tables[name] = (*tables.get(name, ()), column)
    ours = {entry.name for entry in functions()}
    rest = (*map(str.upper, sorted(quoted)), *(name for (name,) in calls if name not in ours))
    return Names(tables, rest, quoted)


def written(name: str, keywords: Collection[str]) -> str:
    """Return a name as SQL writes it, quoted if it must be."""
    return name if _PLAIN.fullmatch(name) and name.lower() not in keywords else quote(name)


@cache
def functions() -> tuple[headers.Entry, ...]:
    """Return the package's functions, as in the reference."""
    return tuple(headers.entries())
