"""Compare a release with earlier ones: their files, the ledger, and what they disclose together."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from anon_sql.apps import files, manifest
from anon_sql.apps.cli import console
from anon_sql.apps.cli.options import ReleaseCall
from anon_sql.core.columns import is_number
from anon_sql.core.labels.types import ONE_VALUE, is_one_value, type_of
from anon_sql.core.names import literal, quote
from anon_sql.core.roles import REST, fold
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb.ledger import TABLE, ledger


def form_of(written: Mapping[str, Any] | None) -> str | None:
    """Return 'mean' or 'median' if the manifest says so, else None."""
    options = written and written["parameters"]["options"]
    form = options.get("format") if isinstance(options, Mapping) else None
    return form if form in ONE_VALUE else None


def cast_values(
    con: duckdb.DuckDBPyConnection, function: str, table: str, quasi: Sequence[str], form: object
) -> None:
    """Give the means or medians in a table their type, by that in the relation ``raw``.

    quasi: the quasi-identifiers. form: the format of the release. What is no value of the type
    becomes NULL.
    """
    if form not in ONE_VALUE:
        return
    raw, released = (con.sql(f"FROM {quote(name)}") for name in ("raw", table))
    kinds = dict(zip(map(fold, raw.columns), map(str, raw.types), strict=True))
    spelled = {fold(name): name for name in released.columns}
    for name in quasi:
        kind = kinds[fold(name)]
        if is_one_value(function, name, kind, str(form)):
            column, wanted = quote(spelled[fold(name)]), type_of(kind, str(form))
            con.execute(
                f"ALTER TABLE {quote(table)} ALTER {column} TYPE {wanted} "
                f"USING TRY_CAST({column} AS {wanted})"
            )


def require_labels(function: str, written: Mapping[str, Any] | None) -> None:
    """Raise AnonError for a release of means or medians."""
    form = form_of(written)
    if form is not None:
        raise AnonError(
            function,
            "the release must show labels",
            f"one with --format {form}",
            "anon-sql verify, and audit() and value_loss() in SQL, read it",
        )


def read_earlier(
    con: duckdb.DuckDBPyConnection,
    function: str,
    previous: Sequence[Path],
    roles: Mapping[str, Sequence[str]],
) -> dict[str, Path]:
    """Return the files of earlier releases by the name of their relation.

    roles: column names by role. Sensitive and kept columns get the types of ``raw``. So do columns
    of a CSV that could be means: these are refused, but text does not tell them from labels.
    """
    types = _types(con, "raw")
    by_relation = {}
    for number, path in enumerate(previous):
        table = _earlier(number)
        files.read_source(con, path, table, labels=True, called=(function, "--previous"))
        wanted = {fold(n): types.get(fold(n)) for n in whole_tuple(con, roles)}
        if files.kind(path)[0] in ("csv", "json") and not _shows_labels(path):
            wanted |= _perhaps_means(con, table, {n: types.get(fold(n)) for n in roles["quasi"]})
        by_relation[_cast(con, table, wanted)] = path
    return by_relation


def whole_tuple(con: duckdb.DuckDBPyConnection, roles: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the sensitive and kept columns of ``raw``, which releases are compared by."""
    others = {fold(n) for role, names in roles.items() if role != "keep" for n in names or []}
    kept = roles.get("keep") or []
    if REST in kept:
        kept = [name for name in con.table("raw").columns if fold(name) not in others]
    return [*(roles["sensitive"] or []), *kept]


def earlier_files(previous: Sequence[Path]) -> dict[str, Path]:
    """Return the files of earlier releases by the name of their relation, as ``read_earlier``."""
    return {_cast_name(_earlier(number)): path for number, path in enumerate(previous)}


def _earlier(number: int) -> str:
    return f"earlier_{number}"


def in_types_of_raw(con: duckdb.DuckDBPyConnection, table: str, sensitive: Sequence[str]) -> str:
    """Return a view of a release read from a file, with columns in the types of ``raw``.

    What is no value of the type becomes NULL. Without columns it is the relation itself.
    """
    if not sensitive:
        return table
    types = _types(con, "raw")
    return _cast(con, table, {fold(name): types.get(fold(name)) for name in sensitive}, "TRY_CAST")


def _types(con: duckdb.DuckDBPyConnection, table: str) -> dict[str, str]:
    relation = con.table(table)
    return {
        fold(name): str(kind) for name, kind in zip(relation.columns, relation.types, strict=True)
    }


def _shows_labels(path: Path) -> bool:
    """Return whether the manifest beside a released file says that it shows labels."""
    beside = manifest.beside(path)
    return beside.is_file() and form_of(manifest.read_manifest("release", beside)) is None


def _perhaps_means(
    con: duckdb.DuckDBPyConnection, table: str, kinds: Mapping[str, str | None]
) -> dict[str, str | None]:
    """Return the types of means for the columns of numbers in which no row shows a range."""
    types = _types(con, table)
    of_means: dict[str, str | None] = {}
    for name, kind in kinds.items():
        if kind is None or fold(name) not in types or not is_number("release", name, kind):
            continue
        wanted = type_of(kind, "mean")
        columns = con.table(table).columns
        column = quote(next(column for column in columns if fold(column) == fold(name)))
        only = f"bool_and({column} IS NULL OR TRY_CAST({column} AS {wanted}) IS NOT NULL)"
        if con.sql(f"SELECT {only} FROM {quote(table)}").fetchall() == [(True,)]:
            of_means[fold(name)] = wanted
    return of_means


def _cast(
    con: duckdb.DuckDBPyConnection,
    table: str,
    types: Mapping[str, str | None],
    cast: str = "CAST",
) -> str:
    """Make a view of a table with columns cast to types by folded name, None to leave them out."""
    kinds = {name: types.get(fold(name)) for name in con.table(table).columns}
    replaced = ", ".join(
        f"{cast}({quote(n)} AS {kind}) AS {quote(n)}" for n, kind in kinds.items() if kind
    )
    selected = f"* REPLACE ({replaced})" if replaced else "*"
    name = _cast_name(table)
    con.execute(f"CREATE OR REPLACE VIEW {quote(name)} AS SELECT {selected} FROM {quote(table)}")
    return name


def _cast_name(table: str) -> str:
    return f"{table}_cast"


_OPTION, _LIKE = "--previous", "--like"


@dataclass(frozen=True)
class Together:
    """What one property of an audit says of a release and earlier ones; found: None if nothing can
    be told."""

    property: str
    found: float | None
    passed: bool | None
    example: str | None
    meaning: str

    def show(self) -> None:
        """Print it, as a warning if an attack finds anybody."""
        show = console.warn if self.found else console.say
        counted = f" ({self.example})" if self.example else ""
        show(f"all releases together, {self.property}: {self.meaning.removesuffix('.')}{counted}")


def check_earlier(call: ReleaseCall, sensitive: Sequence[str]) -> None:
    """Raise AnonError if files of earlier releases cannot be read, or nothing is to be compared.

    sensitive: names of sensitive columns. A ledger needs what tells people apart.
    """
    earlier, like = call.earlier, call.parameters.get("like")
    for path in earlier.previous:
        files.check_source("release", _OPTION, path)
    if like is not None:
        files.check_source("release", _LIKE, like)
    if earlier.previous and not sensitive:
        raise AnonError(
            "release", f"{_OPTION} needs a sensitive column", None, "name it in --sensitive"
        )
    if earlier.ledger is not None and call.parameters.get("entity") is None:
        rule = "--ledger needs the column that says whose a row is"
        raise AnonError("release", rule, None, "name it in --entity")


def read_like(con: duckdb.DuckDBPyConnection, like: Path) -> None:
    """Make the relation ``like`` of the file that a release gets its labels from."""
    files.read_source(con, like, "like", labels=True, called=("release", _LIKE))


def require_apart(
    con: duckdb.DuckDBPyConnection,
    earlier: Sequence[str],
    share: float,
    call: Mapping[str, Any],
) -> list[Together]:
    """Return what attacks find of ``released`` and earlier releases.

    con: with the relations ``raw`` and ``released``. share: the largest that is allowed. call:
    the parameters of the release. Raises AnonError for a larger share.
    """
    parameters = {"previous": earlier, "share": share}
    parameters |= {
        name: call.get(name) for name in ("l", "quasi", "sensitive", "keep", "hierarchy", "entity")
    }
    properties = con.execute(
        "SELECT property, found, passed, example, meaning FROM __anon_earlier_properties("
        "'release', 'raw', 'released', $previous, $share, $l, 0, $quasi, $sensitive, $keep, "
        "$hierarchy, $entity)",
        parameters,
    ).fetchall()
    rows = [Together(*row) for row in properties]
    for row in rows:
        if row.passed is False:
            raise AnonError(
                "release",
                f"the share that attacks on all releases together find must be at most {share:.4g}",
                f"{row.found:.4g} for {row.property} ({row.example})",
                f"see anon-sql help releasing-again, or allow a share with {_OPTION}-share",
            )
    return rows


_LEDGER = f"anon_ledger_file.main.{TABLE}"


def open_ledger(con: duckdb.DuckDBPyConnection, path: Path, entity: str, key: str) -> list[str]:
    """Attach a ledger, made where there is none, and return sentences about people of ``raw``.

    Raises AnonError for an entry that was made with another key.
    """
    con.execute(f"ATTACH {literal(str(path))} AS anon_ledger_file")
    ledger(con, _LEDGER)
    return list(_again(con, entity, key))


def _again(con: duckdb.DuckDBPyConnection, entity: str, key: str) -> Iterator[str]:
    entries = con.execute(
        "SELECT release, strftime(released_at, '%Y-%m-%d'), shared "
        "FROM ledger_overlap('raw', $ledger, entity := $entity, key := $key)",
        {"ledger": _LEDGER, "entity": entity, "key": key},
    ).fetchall()
    for name, day, shared in entries:
        if shared is None:
            rule = "--ledger-key must be the key of all entries of the ledger"
            raise AnonError("release", rule, f"another for {name} of {day}")
        if shared:
            who = "1 person is" if shared == 1 else f"{shared:,} persons are"
            again = f"{who} in an earlier release, too: {name} of {day}"
            yield f"{again}; see anon-sql help releasing-again"


def enter(
    con: duckdb.DuckDBPyConnection,
    name: str,
    key: str,
    made: Mapping[str, Any],
    unnamed: Sequence[tuple[Path, Path]],
) -> None:
    """Enter the release of the relations ``raw`` and ``released``.

    name: as the ledger calls it. made: its manifest, without the hash of its file. unnamed: that
    file, the first one, and the name that it is to get.
    """
    released = unnamed[0][0]
    complete = manifest.with_output(made, released)
    con.execute(
        f"INSERT INTO {_LEDGER} FROM ledger_entry('raw', 'released', $name, entity := $entity, "
        "manifest := $manifest, key := $key)",
        {
            "name": name,
            "entity": made["parameters"]["entity"],
            "manifest": json.dumps(complete, ensure_ascii=False),
            "key": key,
        },
    )
