"""Read earlier released files, and refuse a release that discloses more with them than alone."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from anon_sql.apps import files, manifest
from anon_sql.apps.one_value_columns import form_of
from anon_sql.core.columns import is_number
from anon_sql.core.labels.one_value import type_of
from anon_sql.core.names import quote
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError

_OPTION, _LIKE = "--previous", "--like"


def check_earlier(
    previous: Sequence[Path],
    like: Path | None,
    sensitive: Sequence[str],
    *,
    invariant: bool,
    counterfeits: bool,
) -> None:
    """Raise AnonError if earlier released files cannot be read, or nothing is to be compared."""
    if counterfeits and not (invariant and previous):
        rule = f"--counterfeits must come with --invariant and {_OPTION}"
        raise AnonError("release", rule, f"no {_OPTION if invariant else '--invariant'}")
    for path in previous:
        files.check_source("release", _OPTION, path)
    if like is not None:
        files.check_source("release", _LIKE, like)
    if previous and not sensitive:
        raise AnonError(
            "release", f"{_OPTION} needs a sensitive column", "none", "name it in --sensitive"
        )


def read_earlier(
    con: duckdb.DuckDBPyConnection,
    function: str,
    previous: Sequence[Path],
    roles: Mapping[str, Sequence[str]],
) -> dict[str, Path]:
    """Return the files of earlier releases by the name of their relation.

    roles: column names by role. Sensitive columns get the types of ``raw``. So do columns of a CSV
    that could be means: ``composition`` refuses means, but cannot tell them from labels in text.
    """
    types = _types(con, "raw")
    found = {}
    for at, path in enumerate(previous):
        table = f"earlier_{at}"
        files.read(con, path, table, labels=True, called=(function, _OPTION))
        wanted = {fold(name): types.get(fold(name)) for name in roles["sensitive"]}
        if files.kind(path)[0] == "csv" and not _shows_labels(path):
            wanted |= _perhaps_means(con, table, {n: types.get(fold(n)) for n in roles["qids"]})
        found[_cast(con, table, wanted)] = path
    return found


def in_types_of_raw(con: duckdb.DuckDBPyConnection, table: str, sensitive: Sequence[str]) -> str:
    """Return a view of a release read from a file, its sensitive columns in the types of ``raw``.

    What is no value of the type becomes NULL.
    """
    types = _types(con, "raw")
    return _cast(con, table, {fold(name): types.get(fold(name)) for name in sensitive}, "TRY_CAST")


def added_rows(con: duckdb.DuckDBPyConnection) -> int:
    """Return how many rows ``released`` has more than ``raw``."""
    ((added,),) = con.execute(
        "SELECT (SELECT count(*) FROM released) - (SELECT count(*) FROM raw)"
    ).fetchall()
    return int(added)


def without_counterfeits(
    con: duckdb.DuckDBPyConnection, qids: Sequence[str], sensitive: Sequence[str]
) -> str:
    """Return a view of ``released`` without counterfeits, which measures of loss can read."""
    con.execute(
        "CREATE TABLE genuine AS FROM __anon_genuine_rows('raw', 'released', "
        "__anon_measure_call('raw', $qids, $sensitive))",
        {"qids": list(qids), "sensitive": list(sensitive)},
    )
    return "genuine"


def _types(con: duckdb.DuckDBPyConnection, table: str) -> dict[str, str]:
    held = con.table(table)
    return {fold(name): str(kind) for name, kind in zip(held.columns, held.types, strict=True)}


def _shows_labels(path: Path) -> bool:
    """Return whether the manifest beside a released file says that it shows labels."""
    beside = manifest.beside(path)
    return beside.is_file() and form_of(manifest.read("release", beside)) is None


def _perhaps_means(
    con: duckdb.DuckDBPyConnection, table: str, kinds: Mapping[str, str | None]
) -> dict[str, str | None]:
    """Return the types of means for the columns of numbers in which no row shows a range."""
    held = _types(con, table)
    found: dict[str, str | None] = {}
    for name, kind in kinds.items():
        if kind is None or fold(name) not in held or not is_number("release", name, kind):
            continue
        wanted = type_of(kind, "mean")
        own = next(column for column in con.table(table).columns if fold(column) == fold(name))
        only = f"bool_and({quote(own)} IS NULL OR TRY_CAST({quote(own)} AS {wanted}) IS NOT NULL)"
        if con.sql(f"SELECT {only} FROM {quote(table)}").fetchall() == [(True,)]:
            found[fold(name)] = wanted
    return found


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


def _cast(
    con: duckdb.DuckDBPyConnection,
    table: str,
    types: Mapping[str, str | None],
    cast: str = "CAST",
) -> str:
    """Make a view of a table with columns cast to types by folded name, None to leave them out."""
    held = {name: types.get(fold(name)) for name in con.table(table).columns}
    replaced = ", ".join(
        f"{cast}({quote(n)} AS {kind}) AS {quote(n)}" for n, kind in held.items() if kind
    )
    shown = f"* REPLACE ({replaced})" if replaced else "*"
    con.execute(f"CREATE VIEW {quote(table + '_cast')} AS SELECT {shown} FROM {quote(table)}")
    return f"{table}_cast"
