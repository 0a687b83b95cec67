"""Read earlier releases: refuse a release that discloses more with them than each alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from anon_sql.apps import console, files
from anon_sql.errors import AnonError

_OPTION, _LIKE = "--previous", "--like"


@dataclass(frozen=True)
class Together:
    """What releases disclose together though none does alone.

    share: of the persons. said: their number, and what is not counted.
    """

    share: float
    said: str

    def show(self) -> None:
        """Print it, as a warning if there are such persons."""
        show = console.warn if self.share else console.say
        show(f"disclosed by all releases together: {self.said}")


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


def read_like(con: duckdb.DuckDBPyConnection, like: Path | None) -> dict[str, Any]:
    """Return the parameter ``like`` of a release: a relation of the file; none without a file."""
    if like is None:
        return {}
    files.read(con, like, "like", labels=True, called=("release", _LIKE))
    return {"like": "like"}


def require_apart(
    con: duckdb.DuckDBPyConnection,
    earlier: Sequence[str],
    share: float,
    call: Mapping[str, Any],
) -> Together:
    """Return what ``composition`` finds of ``released`` and earlier releases.

    con: with the relations ``raw`` and ``released``. share: the largest that is allowed. call:
    the parameters of the release. Raises AnonError for a larger share.
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
    return Together(found, example)
