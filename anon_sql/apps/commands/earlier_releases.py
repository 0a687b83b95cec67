"""Go on with earlier releases: refuse a release that discloses more with them than alone."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from anon_sql.apps import files
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


def counted_apart(
    con: duckdb.DuckDBPyConnection, roles: Mapping[str, Sequence[str]]
) -> tuple[int, str]:
    """Return how many rows of ``released`` are counterfeits, and a relation of the others.

    Measures of loss read the others.
    """
    con.execute(
        "CREATE TABLE genuine AS FROM __anon_genuine_rows('raw', 'released', "
        "__anon_measure_call('raw', $qids, $sensitive))",
        {name: list(roles[name]) for name in ("qids", "sensitive")},
    )
    ((added,),) = con.execute(
        "SELECT (SELECT count(*) FROM released) - (SELECT count(*) FROM genuine)"
    ).fetchall()
    return int(added), "genuine"


def counted(added: int) -> str | None:
    """Return a sentence on counterfeits; None if there are none."""
    rows = (
        "1 counterfeit row, of nobody, shows"
        if added == 1
        else f"{added:,} counterfeit rows, of nobody, show"
    )
    return f"{rows} values that have left" if added else None


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
