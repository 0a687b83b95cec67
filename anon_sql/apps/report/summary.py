"""Collect what the first page of a report says, for the person who signs, and fit it to the page.

It holds names, figures and the words of the steward: no path and no value of the data.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from anon_sql.apps import files, manifest
from anon_sql.apps.cli.parameters import flag, of_releases
from anon_sql.apps.cli.spelling import argument
from anon_sql.apps.csv import notations
from anon_sql.apps.csv.dialect import Dialect
from anon_sql.apps.csv.texts import WITHOUT_TOTAL
from anon_sql.apps.report import recipient
from anon_sql.apps.verdict.criteria import CONTROL
from anon_sql.core.common_parameters import PERSON, UNIT
from anon_sql.core.names import quote
from anon_sql.core.parameters import takes
from anon_sql.core.roles import fold
from anon_sql.hosts.files import digest, files_of
from anon_sql.hosts.recipes import Recipe
from anon_sql.version import VERSION

FEW_ROWS = 5
_PLACE = ("file", "database", "table", "control", "schema_sha256", "sha256")  # of a source
DISCLOSED = ("certain", "inferred", "lifted", "near", "even_values", "distribution")


@dataclass(frozen=True)
class Sources:
    """What was read. raw: file, or table of a database; recipe: whose source it is, if any.

    control: people who are not in the raw table, as raw; None without them.
    """

    raw: Path
    released: Path
    recipe: Recipe | None = None
    dialect: Dialect = field(default_factory=Dialect)
    hierarchy: Path | None = None
    control: Path | None = None

    @property
    def raw_file(self) -> Path:
        """Return the file that holds the raw table."""
        return self.recipe.file if self.recipe else _file(self.raw)

    @property
    def raw_name(self) -> str:
        """Return the name of the raw table, without a folder."""
        if self.recipe is None:
            return self.raw.name
        table = self.recipe.table
        return self.raw_file.name + (f":{table}" if table else "")

    def control_facts(self, con: duckdb.DuckDBPyConnection) -> dict[str, Any] | None:
        """Return the name, the rows and the hash of the control; None without one."""
        if self.control is None:
            return None
        ((rows,),) = con.execute(f"SELECT count(*) FROM {CONTROL}").fetchall()
        return {"name": self.control.name, "rows": rows, "sha256": digest(_file(self.control))}


def collect(
    con: duckdb.DuckDBPyConnection,
    request: Mapping[str, Any],
    figures: Sequence[Mapping[str, Any]],
    reasons: Sequence[Mapping[str, Any]],
    written: Mapping[str, Any] | None,
    sources: Sources,
) -> dict[str, Any]:
    """Return the facts of the summary that no other section has.

    figures, reasons: of the verdict. written: the manifest, or None.
    """
    ((rows,),) = con.execute("SELECT count(*) FROM raw").fetchall()
    raw_names = {fold(name): name for name in con.table("raw").columns}
    raw = {
        "name": sources.raw_name,
        "dated": _dated(sources.raw_file),
        "rows": rows,
        "columns": len(raw_names),
        "sha256": digest(sources.raw_file),
    }
    return {
        "raw": raw,
        "today": _today(con, request, raw_names),
        "columns": _by_role(con, request, raw_names),
        "disclosed": _disclosed(request["sensitive"], figures),
        "query_error": next((f["value"] for f in figures if f["name"] == "query_error"), None),
        "accepted": {each["rule"]: each["accepted"] for each in reasons if each["accepted"]},
        "again": _again(con, written, sources),
        "prepared": prepared(con, request, raw_names, sources),
        "check": recipient.at_once(con, request, sources.released.name),
    }


def _file(source: Path) -> Path:
    return (files.in_database(source) or (source,))[0]


def _dated(path: Path) -> str:
    """Return when a file, or the last file of a folder, was changed, in UTC."""
    inside = files_of(path) if path.is_dir() else [path]
    return _time(datetime.fromtimestamp(max(each.stat().st_mtime for each in inside), UTC))


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def _today(
    con: duckdb.DuckDBPyConnection, request: Mapping[str, Any], raw_names: Mapping[str, str]
) -> dict[str, Any]:
    """Return what an attacker who knows the quasi-identifiers finds in the raw table.

    alone, fewer: shares of the rows that share these values with no other row, and with fewer than
    ``FEW_ROWS`` rows in all; people are counted in place of rows if the request has an entity.
    """
    by = ", ".join(quote(raw_names[fold(name)]) for name in request["quasi"])
    entity = request.get("entity")
    alike = "count(*)" if entity is None else f"count(DISTINCT {quote(entity)})"
    sql = (
        "SELECT coalesce(sum(n) FILTER (alike = 1), 0) / sum(n) AS alone, "
        f"coalesce(sum(n) FILTER (alike < {FEW_ROWS}), 0) / sum(n) AS fewer "
        f"FROM (SELECT count(*) AS n, {alike} AS alike FROM raw GROUP BY {by})"
    )
    ((alone, fewer),) = con.execute(sql).fetchall()
    return {"alone": alone, "fewer": fewer, "few": FEW_ROWS, "sql": sql}


def prepared(
    con: duckdb.DuckDBPyConnection,
    request: Mapping[str, Any],
    raw_names: Mapping[str, str],
    sources: Sources,
) -> dict[str, list[str]]:
    """Return the steps between the source and the release that are known, each with its details.

    removed: columns. filtered: rows that were left out before, which no source of today does.
    read: how the file was read, where that is not the default. converted: the types that the text
    of a CSV file was read as.
    """
    released = {fold(name) for name in con.table("released").columns}
    stated: Mapping[str, Any] = {f.name: getattr(sources.dialect, f.name) for f in fields(Dialect)}
    if sources.recipe is not None:
        stated = {n: v for n, v in sources.recipe.source.items() if n not in _PLACE}
    default = {f.name: getattr(Dialect(), f.name) for f in fields(Dialect)}
    of_file = sources.recipe is None or sources.recipe.table is None
    is_csv = of_file and sources.raw_file.is_file() and _is_csv(sources.raw_file)
    raw = con.table("raw")
    types = zip(raw.columns, map(str, raw.types), strict=True)
    return {
        "removed": [name for key, name in raw_names.items() if key not in released],
        "filtered": [],
        "read": [
            f"{n} = {_shown(v)}" for n, v in stated.items() if v not in (default.get(n), None)
        ],
        "converted": [f"{n} {kind}" for n, kind in types if kind != "VARCHAR"] if is_csv else [],
    }


def _is_csv(path: Path) -> bool:
    return any(path.name.lower().endswith(e) and f.name == "csv" for e, f in files.FORMATS.items())


def _shown(value: Any) -> str:
    """Return how a file is read, in words: texts, lists of them, or texts by column."""
    if isinstance(value, Mapping):
        value = list(value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(
            " ".join(map(str, filter(None, each))) if isinstance(each, tuple) else str(each)
            for each in value
        )
    return str(value)


def _by_role(
    con: duckdb.DuckDBPyConnection, request: Mapping[str, Any], raw_names: Mapping[str, str]
) -> dict[str, list[str]]:
    """Return the columns of the raw table by what was decided of them."""
    role = {fold(name): each for each in manifest.ROLES for name in request.get(each) or []}
    released = {fold(name) for name in con.table("released").columns}
    columns: dict[str, list[str]] = {
        name: [] for name in ("generalized", "sensitive", "unchanged", "identifiers", "left_out")
    }
    kinds = {"quasi": "generalized", "sensitive": "sensitive"}
    for key, name in raw_names.items():
        if key in released:
            columns[kinds.get(role.get(key, ""), "unchanged")].append(name)
        else:
            columns["identifiers" if role.get(key) == "identifiers" else "left_out"].append(name)
    return columns


def _disclosed(
    sensitive: Sequence[str], figures: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the figures of each sensitive column, None for what was not measured."""
    values = {(f["name"], fold(f["column"])): f["value"] for f in figures if f["column"]}
    return [
        {"column": name, **{each: values.get((each, fold(name))) for each in DISCLOSED}}
        for name in sensitive
    ]


def _again(
    con: duckdb.DuckDBPyConnection, written: Mapping[str, Any] | None, sources: Sources
) -> dict[str, Any]:
    """Return how the release is made again, and what it was made with.

    recipe_sha256 is that of the recipe that made the release, as its manifest says.
    """
    ((duckdb_version,),) = con.execute("SELECT version()").fetchall()
    by = (written or {}).get("recipe")
    return {
        "command": command(written, sources, by),
        "recipe_sha256": by["sha256"] if by else None,
        "same_recipe": bool(by and sources.recipe and by["sha256"] == sources.recipe.sha256),
        "released_sha256": digest(_file(sources.released)),
        "released_dated": _dated(_file(sources.released)),
        "reported": _time(datetime.now(UTC)),
        "reported_with": {"anon_sql": VERSION, "duckdb": duckdb_version},
    }


def command(
    written: Mapping[str, Any] | None, sources: Sources, by: Mapping[str, Any] | None
) -> str | None:
    """Return the command that makes the release; None where it is not written down.

    by: the recipe that a manifest names. A release of a series is followed by the next one, never
    made again. A manifest of rows that no method of this package made
    names none, and a hierarchy that the report was not given has no name.
    """
    if written is None or written["method"] is None or written["series"].get("cohorts"):
        return None
    if written["parameters"]["hierarchy"] and not (by or sources.hierarchy):
        return None
    words = ["anon-sql", "release"]
    if by:
        if sources.recipe is None or sources.recipe.sha256 != by["sha256"]:
            return None
        words += [sources.recipe.path.name, sources.released.name]
        return " ".join(map(shlex.quote, words))
    words += [shlex.quote(sources.raw_name), shlex.quote(sources.released.name)]
    if written["method"] != "anonymize":
        words += ["--method", str(written["method"])]
    words += _options(written)
    if sources.hierarchy:
        words += ["--hierarchy", shlex.quote(sources.hierarchy.name)]
    for each in written["series"]["previous"]:
        words += ["--previous", shlex.quote(each["name"])]
    return " ".join([*words, *_dialect(sources.dialect), "--manifest"])


def _options(written: Mapping[str, Any]) -> Iterator[str]:
    """Give the options of a release; those that have their defaults are left out."""
    stated = written["parameters"]
    values = {n: v for n, v in stated.items() if n not in ("hierarchy", "options")}
    values |= written["roles"] | (stated["options"] or {})
    parameters = {**of_releases(), **takes(written["method"])}
    others = {manifest.UNIQUE: 0, UNIT: PERSON}
    for name, value in values.items():
        default = parameters[name].default if name in parameters else others.get(name)
        if value in (None, [], {}) or name == "without_role" or (value == default and name != "k"):
            continue
        if isinstance(value, bool):
            yield flag(name) if value else f"--no-{flag(name)[2:]}"
        else:
            plain = int(value) if isinstance(value, float) and value.is_integer() else value
            yield f"{flag(name)} {argument(plain)}"


def _dialect(written_as: Dialect) -> Iterator[str]:
    """Give the options that say how a CSV file is written."""
    for name in ("delimiter", "quote", "encoding"):
        if getattr(written_as, name) != getattr(Dialect(), name):
            yield f"--{name} {shlex.quote(getattr(written_as, name))}"
    if written_as.header != Dialect().header:
        yield "--header" if written_as.header else "--no-header"
    if written_as.trim:
        yield "--trim"
    if written_as.without_total_row:
        yield WITHOUT_TOTAL
    for text in filter(None, written_as.nulls):
        yield f"--null {shlex.quote(text)}"
    for option, value in notations.as_options(written_as.notations):
        yield f"{option} {shlex.quote(value)}"
