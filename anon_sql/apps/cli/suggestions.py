"""Suggest the roles of the columns of ``raw``, and print them with how its file is to be read."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote as quoted
from typing import Any

import duckdb

from anon_sql.apps import files
from anon_sql.apps.cli import console
from anon_sql.apps.csv import notations
from anon_sql.apps.csv.dialect import Dialect
from anon_sql.apps.csv.notations import Declared, as_options
from anon_sql.apps.formats.dictionary import column_labels, missing
from anon_sql.apps.verdict.rules import FLOORS, VERDICT
from anon_sql.core.names import quote
from anon_sql.core.roles import ROLES, fold, tagged
from anon_sql.errors import listed
from anon_sql.hosts.duckdb import looks
from anon_sql.hosts.duckdb.roles import comments_on
from anon_sql.suggest.roles import BLANKS

NAME = "roles"
_NAMED = 3  # columns that a line names
LABEL = "label"
HEADER = ("column", "type", "role", "distinct", "NULL", "unique", "adds", "reason")


def suggestions(
    con: duckdb.DuckDBPyConnection, function: str, relation: str = "raw"
) -> list[dict[str, Any]]:
    """Return the rows of ``suggest_roles``, with the role of each column that declares one.

    relation: the rows that are looked at; the comments are those of ``raw``. ``comment`` is the
    text that declares a role, None without one. ``label``: what else a comment says.
    Raises AnonError for a comment that is not clear.
    """
    suggested = looks.suggestions(con, relation)
    comments = comments_on(con, "raw")
    labels = column_labels(con, "raw")
    declared = tagged(function, [each["column_name"] for each in suggested], comments)
    for each in suggested:
        role, each["comment"] = declared.get(each["column_name"]), None
        each["label"] = labels.get(each["column_name"], "")
        if role is not None:
            each["comment"] = comments[fold(each["column_name"])]
            each |= {"role": role, "reason": f"declared: the comment says anon:{role}"}
    _generalize_rare(con, relation, suggested)
    return suggested


def by_role(suggested: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the columns of each role."""
    return {
        role: [each["column_name"] for each in suggested if each["role"] == role] for role in ROLES
    }


def entity_of(suggested: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the column that identifies people with several rows; None without one."""
    return next((each["column_name"] for each in suggested if each["entity"]), None)


def say_suggestions(
    con: duckdb.DuckDBPyConnection,
    source: Path,
    written_as: Dialect,
    suggested: Sequence[dict[str, Any]],
) -> None:
    """Print suggestions as a table, and options that read their file better."""
    proposed, _ = reading(con, source, written_as, again=False)
    show(suggested)
    if options := reading_options(proposed, written_as):
        console.say(f"To read numbers and dates as such, pass {' '.join(map(quoted, options))}")
    if any(BLANKS in each["reason"] for each in suggested):
        console.say("--trim removes the blanks around values.")


def show(suggested: Sequence[dict[str, Any]]) -> None:
    """Print suggestions as a table."""
    labelled = any(each["label"] for each in suggested)
    header = (*HEADER, LABEL) if labelled else HEADER
    console.show_lines(header, ([*_row(each), *[each["label"]] * labelled] for each in suggested))
    console.say("These are suggestions: check each one before you declare it.")


def reading_options(proposed: Dialect, written_as: Dialect) -> list[str]:
    """Return the words of a command line that read a file as proposed, beside those typed."""
    pairs = (
        *(("--null", text) for text in proposed.nulls[len(written_as.nulls) :]),
        *as_options(proposed.notations[len(written_as.notations) :]),
    )
    return [word for pair in pairs for word in pair] + ["--trim"] * (
        proposed.trim and not written_as.trim
    )


def _generalize_rare(
    con: duckdb.DuckDBPyConnection, relation: str, suggested: Sequence[dict[str, Any]]
) -> None:
    """Make kept columns quasi-identifiers, one by one, until few rows have rare values of them.

    Values are rare if fewer rows or people than the least k have them, as in the rule ``kept``.
    """
    least = FLOORS["contract"]
    entity = entity_of(suggested)
    counted = "count(*)" if entity is None else f"count(DISTINCT {quote(entity)})"

    def rare(names: Sequence[str]) -> float:
        by = ", ".join(map(quote, names))
        of = f"FROM {quote(relation)} GROUP BY {by}"
        ((few, rows),) = con.execute(
            f"SELECT sum(n) FILTER (people < {least}), sum(n) "
            f"FROM (SELECT count(*) AS n, {counted} AS people {of})"
        ).fetchall()
        return (few or 0) / rows if rows else 0.0

    kept = {each["column_name"]: each for each in suggested if each["role"] == "keep"}
    while len(kept) > 1 and rare(list(kept)) >= (VERDICT["rare"].amber or 0):
        free = [name for name, each in kept.items() if each["comment"] is None]
        if not free:
            return
        without = {name: rare([other for other in kept if other != name]) for name in free}
        name = min(free, key=lambda each: without[each])
        row = kept.pop(name)
        row |= {
            "role": "quasi",
            "reason": f"few rows have its value with those of {listed([*kept])}",
        }


def reading(
    con: duckdb.DuckDBPyConnection, source: Path, written_as: Dialect, *, again: bool
) -> tuple[Dialect, list[str]]:
    """Return how a file is to be read, and lines that say so.

    again: whether ``raw`` is read so, and texts without blanks around them.
    """
    markers = _markers(con, source)
    marked = replace(written_as, nulls=(*written_as.nulls, *markers))
    if markers:
        _read_again(con, source, marked)
    proposed = _proposed(con, source, written_as)
    if markers and not again:
        _read_again(con, source, written_as)
    full = replace(marked, notations=(*marked.notations, *proposed))
    merged = files.blanks(con, "raw", con.table("raw").columns)[1] if again else []
    if merged:  # trimmed texts are fewer values, which also decide roles
        full = replace(full, trim=True)
    if coded := missing(con, "raw"):  # which a recipe names, so that they can be changed
        full = replace(full, missing=coded)
        marked = replace(marked, missing=coded)
    if again and full != marked:
        _read_again(con, source, full)
    noted = []
    for text, names in markers.items():
        some = listed(names[:_NAMED]) + f" and {len(names) - _NAMED} more" * (len(names) > _NAMED)
        noted.append(
            f'null = ["{text}"] in [source] reads it as missing in every column, because the other '
            f"values of {some} are numbers or dates"
        )
    if merged:
        noted.append(
            f"trim = true in [source] removes the blanks around values of {listed(merged)}, some "
            "of which differ in blanks alone"
        )
    return full, noted


def _read_again(con: duckdb.DuckDBPyConnection, source: Path, dialect: Dialect) -> None:
    """Make ``raw`` again, by another dialect."""
    con.execute(f"DROP {'VIEW' if files.in_database(source) else 'TABLE'} raw")
    files.read_source(con, source, "raw", dialect=dialect, called=(NAME, "FILE"))


def _markers(con: duckdb.DuckDBPyConnection, source: Path) -> dict[str, list[str]]:
    """Return the markers of missing values in a CSV file, with the columns that they hide."""
    if files.in_database(source) or files.kind(source, NAME)[0] != "csv":
        return {}
    return notations.missing(con, "raw")


def _proposed(con: duckdb.DuckDBPyConnection, source: Path, written_as: Dialect) -> Declared:
    """Return the notations of columns of a CSV file that none is declared for."""
    if files.in_database(source) or files.kind(source, NAME)[0] != "csv":
        return ()
    in_file = {name for name, column, _ in written_as.notations if column is None}
    in_file |= {*notations.SIGNS} if in_file & {*notations.SIGNS} else set()
    return tuple(each for each in notations.proposed(con, "raw") if each[0] not in in_file)


def _row(suggestion: dict[str, Any]) -> list[str]:
    """Return the cells of a column, as in ``HEADER``."""
    shares = (suggestion[name] for name in ("null_share", "unique_share", "adds_share"))
    return [
        *(suggestion[name] for name in ("column_name", "column_type", "role")),
        f"{suggestion['distinct_values']:,}",
        *("" if share is None else f"{share:.1%}" for share in shares),
        suggestion["reason"]
        + (f"; repeats {suggestion['repeats']}" if suggestion["repeats"] else ""),
    ]
