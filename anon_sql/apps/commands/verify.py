"""``anon-sql verify``: check that a released file is what its manifest says."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import duckdb
import typer

import anon_sql
from anon_sql.apps import console, files, manifest, verifying
from anon_sql.apps.commands import arguments
from anon_sql.apps.commands.earlier_files import in_types_of_raw, read_earlier, with_files
from anon_sql.apps.csv_files.dialect import Dialect, dialect
from anon_sql.apps.one_value_columns import cast_values, form_of
from anon_sql.apps.stopping import stoppable
from anon_sql.apps.verifying import Check
from anon_sql.errors import AnonError

_STATE = {True: "holds  ", False: "fails  ", None: "unknown"}


def verify(
    released: Annotated[Path, typer.Argument(metavar="OUT", help="The released file.")],
    raw: Annotated[
        Path | None, typer.Option(help="The raw file; without it less can be checked.")
    ] = None,
    hierarchy: arguments.Hierarchy = None,
    previous: arguments.Previous = [],  # noqa: B006
    delimiter: arguments.Delimiter = None,
    quotes: arguments.Quotes = '"',
    header: arguments.Header = None,
    null: arguments.Null = [],  # noqa: B006
) -> None:
    """Check a released file against the manifest beside it, and against the raw file if given.

    Ends with 1 and the reason where a check fails.

    Example: anon-sql verify safe.parquet --raw people.parquet
    """
    with console.one_sentence(words=partial(with_files, previous)):
        written_as = dialect("verify", delimiter, quotes, header, null)
        files.check_source("verify", "OUT", released)
        if raw is not None:
            files.check_source("verify", "--raw", raw)
        path = manifest.beside(released)
        if not path.is_file():
            hint = "anon-sql release --manifest writes one"
            raise AnonError("verify", "OUT must have a manifest beside it", f"no '{path}'", hint)
        written = manifest.read("verify", path)
        if raw is not None and written["parameters"]["hierarchy"] and hierarchy is None:
            rule = "a release made with a hierarchy needs it again"
            raise AnonError("verify", rule, "none", "pass --hierarchy")
        for file in previous:
            files.check_source("verify", "--previous", file)
        failed: list[Check] = []
        said: list[str] = []

        def look(con: duckdb.DuckDBPyConnection) -> None:
            for check in _checks(con, written, released, raw, hierarchy, previous, written_as):
                said.append(f"{_STATE[check.holds]}  {check.what}")
                if check.holds is False:
                    failed.append(check)

        with anon_sql.connect() as con:
            stoppable(con, partial(look, con))
        if failed:
            rule = "the release must be what its manifest says"
            raise AnonError("verify", rule, "failed: " + _listed(failed))
        for line in said:
            console.say(line)
        if raw is None:
            console.say("without --raw neither labels, t nor measures were checked")


def _checks(
    con: duckdb.DuckDBPyConnection,
    written: Mapping[str, Any],
    released: Path,
    raw: Path | None,
    hierarchy: Path | None,
    previous: Sequence[Path],
    written_as: Dialect,
) -> Iterator[Check]:
    same = list(verifying.of_file(written, released))
    yield from same
    yield from verifying.of_earlier(written, previous)
    if released.is_dir() and not all(check.holds for check in same):
        return
    files.read(con, released, "released", labels=True, called=("verify", "OUT"))
    alone = list(verifying.of_release(con, written, "released"))
    yield from alone
    if raw is None or not all(check.holds for check in alone):
        return
    files.read(con, raw, "raw", dialect=written_as, called=("verify", "--raw"))
    gone = verifying.of_raw(con, written, "raw")
    if not gone.holds:
        yield gone
        return
    cast_values(con, "verify", "released", written["roles"]["qids"], form_of(written))
    trees = arguments.read_hierarchy(con, "verify", hierarchy, "hierarchy")
    earlier = read_earlier(con, "verify", previous, written["roles"])
    shown = in_types_of_raw(con, "released", written["roles"]["sensitive"] if earlier else [])
    stated = {**written["parameters"], **written["series"]}
    made = manifest.make(
        con, ("raw", shown), written["method"], stated, written["roles"], trees, earlier
    )
    yield from verifying.of_pair(written, made)


def _listed(failed: Iterable[Check]) -> str:
    return "; ".join(f"{check.what} ({check.found})" for check in failed)
