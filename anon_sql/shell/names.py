"""What can be typed: the package's functions, and the names that a database knows at the moment."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache

import duckdb

from anon_sql import headers
from anon_sql.relation import quote

_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True)
class Names:
    """tables: columns by table, which is as SQL writes it. rest: DuckDB's functions and keywords.
    quoted: the keywords that are no name without quotes."""

    tables: Mapping[str, tuple[str, ...]]
    rest: tuple[str, ...]
    quoted: frozenset[str]

    def written(self, name: str) -> str:
        """A name as SQL writes it: in quotes where it must be."""
        return written(name, self.quoted)


def known(con: duckdb.DuckDBPyConnection) -> Names:
    """The names of today; none where a transaction has failed."""
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
    """A name as SQL writes it: in quotes where it must be."""
    return name if _PLAIN.fullmatch(name) and name.lower() not in keywords else quote(name)


@cache
def functions() -> tuple[headers.Entry, ...]:
    """The package's functions, as in the reference."""
    return tuple(headers.entries())
