"""Refuse a release that discloses more together with earlier released files than alone."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from anon_sql.apps import files
from anon_sql.core.names import quote
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError

_OPTION = "--previous"


def check_earlier(previous: Sequence[Path], sensitive: Sequence[str]) -> None:
    """Raise AnonError if earlier released files cannot be read, or nothing is to be compared."""
    for path in previous:
        files.check_source("release", _OPTION, path)
    if previous and not sensitive:
        raise AnonError(
            "release", f"{_OPTION} needs a sensitive column", "none", "name it in --sensitive"
        )


def require_apart(
    con: duckdb.DuckDBPyConnection,
    previous: Sequence[Path],
    share: float,
    call: Mapping[str, Any],
) -> str | None:
    """Return what ``released`` and earlier files disclose together, None for nothing.

    con: with the relations ``raw`` and ``released``. share: largest share of persons for whom the
    releases together may leave fewer than l sensitive values though each alone leaves as many.
    call: the parameters of the release. Raises AnonError where more persons are disclosed.
    """
    names = []
    for at, path in enumerate(previous):
        files.read(con, path, f"earlier_{at}", labels=True, called=("release", _OPTION))
        names.append(_as_text(con, f"earlier_{at}", call["sensitive"]))
    given = {
        "previous": names,
        "share": share,
        "released": _as_text(con, "released", call["sensitive"]),
    }
    given |= {name: call.get(name) for name in ("l", "qids", "sensitive", "hierarchy", "entity")}
    ((found, passed, example),) = con.execute(
        "SELECT found, passed, example FROM __anon_composition_property('raw', $released, "
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


def _as_text(con: duckdb.DuckDBPyConnection, table: str, sensitive: Sequence[str]) -> str:
    """Make a view of a release with its sensitive columns as text, as a CSV file has them."""
    wanted = {fold(name) for name in sensitive}
    held = [quote(name) for name in con.table(table).columns if fold(name) in wanted]
    replaced = ", ".join(f"{name}::VARCHAR AS {name}" for name in held)
    name = f"{table}_as_text"
    shown = f"* REPLACE ({replaced})" if held else "*"
    con.execute(f"CREATE VIEW {quote(name)} AS SELECT {shown} FROM {quote(table)}")
    return name
