"""Read earlier released files, and refuse a release that discloses more with them than alone."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from anon_sql.apps import files
from anon_sql.core.names import quote
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError

_OPTION, _LIKE = "--previous", "--like"


def check_earlier(previous: Sequence[Path], like: Path | None, sensitive: Sequence[str]) -> None:
    """Raise AnonError if earlier released files cannot be read, or nothing is to be compared."""
    for path in previous:
        files.check_source("release", _OPTION, path)
    if like is not None:
        files.check_source("release", _LIKE, like)
    if previous and not sensitive:
        raise AnonError(
            "release", f"{_OPTION} needs a sensitive column", "none", "name it in --sensitive"
        )


def read_earlier(
    con: duckdb.DuckDBPyConnection, previous: Sequence[Path], sensitive: Sequence[str]
) -> list[str]:
    """Return the names of earlier releases, their sensitive columns in the types of ``raw``."""
    raw = con.table("raw")
    types = {fold(name): str(kind) for name, kind in zip(raw.columns, raw.types, strict=True)}
    names = []
    for at, path in enumerate(previous):
        files.read(con, path, f"earlier_{at}", labels=True, called=("release", _OPTION))
        names.append(
            _cast(con, f"earlier_{at}", {name: types.get(fold(name)) for name in sensitive})
        )
    return names


def earlier_parameters(
    con: duckdb.DuckDBPyConnection, like: Path | None, series: Sequence[str]
) -> dict[str, Any]:
    """Return the parameters of a release that follow from earlier ones.

    like: the file whose bins recode the rows, None for none. series: the names of all earlier
    releases of an invariant series.
    """
    found: dict[str, Any] = {"previous": list(series)} if series else {}
    if like is not None:
        files.read(con, like, "like", labels=True, called=("release", _LIKE))
        found["like"] = "like"
    return found


def require_apart(
    con: duckdb.DuckDBPyConnection,
    earlier: Sequence[str],
    share: float,
    call: Mapping[str, Any],
) -> str | None:
    """Return what ``released`` and earlier releases disclose together, None for nothing.

    con: with the relations ``raw`` and ``released``. share: largest share of persons for whom the
    releases together may leave fewer than l sensitive values though each alone leaves as many.
    call: the parameters of the release. Raises AnonError where more persons are disclosed.
    """
    given = {"previous": earlier, "share": share}
    given |= {name: call.get(name) for name in ("l", "qids", "sensitive", "hierarchy", "entity")}
    ((found, passed, example),) = con.execute(
        "SELECT found, passed, example FROM __anon_composition_property('raw', 'released', "
        "$previous, $share, $l, 0, $qids, $sensitive, $hierarchy, $entity)",
        given,
    ).fetchall()
    if not passed:
        raise AnonError(
            "release",
            "the share of persons that all releases together disclose, though none does alone, "
            f"must be at most {share:.4g}",
            f"{found:.4g} ({example})",
            f"see docs/releasing-again.md, or allow a share with {_OPTION}-share",
        )
    return None if example is None else f"disclosed by all releases together: {example}"


def _cast(con: duckdb.DuckDBPyConnection, table: str, types: Mapping[str, str | None]) -> str:
    """Make a view of a table with columns cast to types, None to leave them out."""
    wanted = {fold(name): kind for name, kind in types.items()}
    held = {name: wanted.get(fold(name)) for name in con.table(table).columns}
    replaced = ", ".join(f"{quote(n)}::{kind} AS {quote(n)}" for n, kind in held.items() if kind)
    shown = f"* REPLACE ({replaced})" if replaced else "*"
    con.execute(f"CREATE VIEW {quote(table + '_cast')} AS SELECT {shown} FROM {quote(table)}")
    return f"{table}_cast"
