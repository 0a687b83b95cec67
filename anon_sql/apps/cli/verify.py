"""``anon-sql verify``: check that a released file is what its manifest says."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import duckdb
import typer

from anon_sql.apps import files, manifest, recorded
from anon_sql.apps.cli import console, options
from anon_sql.apps.cli.by_recipe import load, request_of
from anon_sql.apps.cli.earlier import (
    cast_values,
    earlier_files,
    form_of,
    in_types_of_raw,
    read_earlier,
    whole_tuple,
)
from anon_sql.apps.cli.linked import checks_of, source_of
from anon_sql.apps.cli.progress import Progress, on_database
from anon_sql.apps.cli.spelling import Options
from anon_sql.apps.csv.dialect import Dialect
from anon_sql.apps.recorded import Check, not_checked
from anon_sql.apps.verdict.of_recipe import HIERARCHY
from anon_sql.attacks.composition import ATTACK
from anon_sql.audit.earlier import EARLIER
from anon_sql.audit.parameters import PEOPLE
from anon_sql.core.names import quote
from anon_sql.core.pseudonyms import KEY
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError
from anon_sql.hosts import recipes
from anon_sql.hosts.files import digest
from anon_sql.hosts.recipes import Recipe
from anon_sql.hosts.series_file import SeriesFile, naming, of_recipe

_WEIGHTED, _WIDER = "weighted_gcp", "wider_labels"
_TOGETHER = (*EARLIER, "composition")  # as manifests of earlier versions call an attack


def of_earlier(written: Mapping[str, Any], previous: Sequence[Path]) -> Iterator[Check]:
    """Check that these files are the earlier releases that the manifest names."""
    stated = sorted(each["sha256"] for each in written["series"]["previous"])
    if stated or previous:
        same = sorted(map(digest, previous)) == stated if previous else None
        what = "the earlier releases are those that were named"
        yield Check(what if previous else f"{what}: --previous names none", same, "other releases")


def of_release(
    con: duckdb.DuckDBPyConnection, written: Mapping[str, Any], released: str
) -> Iterator[Check]:
    """Check what the release alone shows: its columns, and k and distinct l of its rows."""
    columns = {fold(name) for name in con.sql(f"FROM {quote(released)}").columns}
    roles = written["roles"]
    for role, what in (("identifiers", "no identifier"), ("exclude", "no column to leave out")):
        left = [name for name in roles.get(role, []) if fold(name) in columns]
        if role == "identifiers" or roles.get(role):
            yield Check(f"{what} is left", not left, ", ".join(left), of=role)
    gone = [name for name in roles["quasi"] if fold(name) not in columns]
    yield Check("every quasi-identifier is there", not gone, f"no column called {', '.join(gone)}")
    if gone:
        return
    required = written["parameters"]
    labels = ", ".join(quote(name) for name in roles["quasi"])
    if required["k"] is not None:
        k = _least(con, "count(*)", released, labels)
        counted = "k" if required["entity"] is None else None  # k counts people with an entity
        enough = k is None or k >= required["k"]
        yield Check(f"k is at least {required['k']}", enough, f"{k}", of=counted)
    if required["l"] is not None and required["l_kind"] == "distinct":
        for name in roles["sensitive"]:
            if fold(name) in columns:
                varied = _least(con, f"count(DISTINCT {quote(name)})", released, labels)
                enough = varied is None or varied >= required["l"] or required["l"] == 1
                what = f"l of {name} is at least {required['l']:g}"
                yield Check(what, enough, f"{varied}", of="l")
    of, least = _one_in(written)
    for name in roles["sensitive"] if least > 1 else ():
        if fold(name) in columns:
            alike = f"list_max(map_values(histogram({quote(name)}::VARCHAR)))"
            worst = _least(con, f"count(*) - {least} * {alike}", released, labels)
            what = f"{of}: no value of {name} has more than 1 in {least} rows of a class"
            yield Check(what, worst is None or worst >= 0, "one that has")


def _one_in(written: Mapping[str, Any]) -> tuple[str, int]:
    """Return what promises that no value has more than one in how many rows; 1 for nothing."""
    cohorts, required = written["series"].get("cohorts"), written["parameters"]
    if cohorts:
        return "series", int(cohorts["l"] or 1)
    options = required["options"] or {}
    groups = options.get("transparent") and options.get("transparent_by", "groups") == "groups"
    distinct = groups and required["l_kind"] == "distinct"
    return "transparent", int(required["l"] or 1) if distinct else 1


def of_raw(con: duckdb.DuckDBPyConnection, written: Mapping[str, Any], raw: str) -> Check:
    """Check that the raw table has every column that the manifest gives a role."""
    columns = {fold(name) for name in con.sql(f"FROM {quote(raw)}").columns}
    holds = all(fold(name) in columns for names in written["roles"].values() for name in names)
    return Check("the raw table has the columns it had", holds, "other columns")


def of_pair(written: Mapping[str, Any], made: Mapping[str, Any]) -> Iterator[Check]:
    """Check what needs the raw table: its schema, the audit, and every figure of the manifest.

    Manifests of earlier versions have no ``weighted_gcp``, count neither wider labels nor people,
    and compare with earlier releases otherwise.
    """
    same = made["raw"] == written["raw"]
    yield Check("the raw table has the columns it had", same, "other columns")
    for check in made["checks"]:
        if not recorded.unasked(check, written):
            note = f" ({ATTACK})" if check["property"] == EARLIER[0] else ""
            yield recorded.of_audit(check, written, note)
    recorded_ones = {each["property"] for each in written["checks"]}
    if not made["series"]["previous"] or recorded_ones.isdisjoint(EARLIER):
        written, made = (
            {**one, "checks": [e for e in one["checks"] if e["property"] not in _TOGETHER]}
            for one in (written, made)
        )
    for later in (_WIDER, PEOPLE):
        if all(each["property"] != later for each in written["checks"]):
            made = {**made, "checks": [e for e in made["checks"] if e["property"] != later]}
    if _WEIGHTED not in written["measures"]:
        others = {name: each for name, each in made["measures"].items() if name != _WEIGHTED}
        made = {**made, "measures": others}
    made, written = _by_name(made), _by_name(written)
    for name in ("roles", "achieved", "checks", "measures", "loss"):
        yield recorded.as_written(name, made[name], written[name])


def _by_name(stated: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest with its checks by property and its losses by attribute.

    Their order does not count: DuckDB 1.5 does not keep that of the checks.
    """
    checks = sorted(stated["checks"], key=lambda each: str(each["property"]))
    loss = {each["attribute"]: each["ncp"] for each in stated["loss"]}
    return {**stated, "checks": checks, "loss": loss}


def _least(con: duckdb.DuckDBPyConnection, measure: str, released: str, labels: str) -> int | None:
    """Return the least value of a measure over classes, or None without classes."""
    ((least,),) = con.sql(
        f"SELECT min(__anon_n) FROM (SELECT {measure} AS __anon_n FROM {quote(released)} "
        f"GROUP BY {labels})"
    ).fetchall()
    return None if least is None else int(least)


@options.with_dialect
def verify(
    released: Annotated[
        Path, typer.Argument(metavar="OUT", help="Released file or folder, with its manifest.")
    ],
    *,
    raw: Annotated[
        Path | None, typer.Option(help="Raw file. Without it, fewer properties can be checked.")
    ] = None,
    recipe: Annotated[
        Path | None, typer.Option(help="Recipe that the release was made by; names the raw table.")
    ] = None,
    hierarchy: options.Hierarchy = None,
    previous: options.Previous = [],  # noqa: B006
    series: options.StateOfSeries = None,
    series_key: options.SeriesKey = KEY,
    written_as: Dialect,
    progress: Progress = None,
) -> None:
    """Check a released file against its manifest and the raw file.

    Checks that the manifest records as failed or undecided count too.
    Exit status: 0 if all that was promised holds, 1 if a check fails,
    3 if nothing fails and something could not be checked, which is
    listed. Without --raw much cannot be checked.

    Example: anon-sql verify safe.parquet --raw people.parquet
    """
    key = "series_key" if series else "key"
    with console.one_sentence(spelling=Options(verify, earlier_files(previous), key)):
        linked = manifest.read_linked_manifest("verify", manifest.beside(released))
        if linked is not None:
            if previous or (recipe and (raw or hierarchy)):
                rule = (
                    "tables that belong together are checked by --raw and --hierarchy, or --recipe"
                )
                raise AnonError("verify", rule, "another option")
            _verify_linked(linked, released, raw, hierarchy, recipe)
            return
        files.check_source("verify", "OUT", released)
        if raw is not None:
            files.check_source("verify", "--raw", raw)
        if recipe is not None and (raw or hierarchy):
            raise AnonError("verify", "--recipe must come without --raw and --hierarchy")
        by = None if recipe is None else recipes.read_recipe("verify", recipe)
        path = manifest.beside(released)
        if not path.is_file():
            hint = "anon-sql release --manifest writes one"
            raise AnonError("verify", "OUT must have a manifest beside it", f"no '{path}'", hint)
        written = manifest.read_manifest("verify", path)
        if raw is not None:
            manifest.require_hierarchy("verify", written, hierarchy)
        for file in previous:
            files.check_source("verify", "--previous", file)
        state = SeriesFile(series, series_key) if series else of_recipe(by) if by else None
        checks: list[Check] = []
        versions: list[str | None] = []

        def check_all(con: duckdb.DuckDBPyConnection) -> None:
            source = _source(con, raw, hierarchy, written_as, by)
            checks.extend(_checks(con, written, released, source, previous, by, state))
            checks.extend(recorded.recorded(written, list(checks)))
            checks.extend(recorded.review(written["statement"]))
            versions.append(manifest.other_versions(con, written))

        on_database("verify", progress, check_all)
        missing = "--raw" if raw is None and by is None else None
        recorded.say(checks, missing, filter(None, versions))


def _source(
    con: duckdb.DuckDBPyConnection,
    raw: Path | None,
    hierarchy: Path | None,
    written_as: Dialect,
    by: Recipe | None,
) -> Callable[[], str | None] | None:
    """Return what makes ``raw`` and returns the name of its hierarchies; None without raw table."""

    def read() -> str | None:
        if by is not None:
            options.note_file(by.file, load(con, "verify", by))
            return HIERARCHY if by.hierarchies else None
        if raw is not None:
            options.read_raw(con, raw, written_as, ("verify", "--raw"))
        return options.read_hierarchy(con, "verify", hierarchy, "hierarchy")

    return None if raw is None and by is None else read


def _verify_linked(
    written: Mapping[str, Any],
    released: Path,
    raw: Path | None,
    hierarchy: Path | None,
    recipe: Path | None,
) -> None:
    """Check the tables of a folder that belong together."""
    checks = []
    by = None if recipe is None else recipes.read_recipe("verify", recipe, linked=True)
    if recipe is not None:
        raw = source_of("verify", recipe)
        checks.append(recorded.of_recipe(written, digest(recipe)))
    checks += checks_of(written, released, raw, hierarchy, by)
    checks += recorded.review(written.get("statement", {}))
    recorded.say(checks, "--raw" if raw is None else None)


def _checks(
    con: duckdb.DuckDBPyConnection,
    written: Mapping[str, Any],
    released: Path,
    source: Callable[[], str | None] | None,
    previous: Sequence[Path],
    by: Recipe | None,
    state: SeriesFile | None,
) -> Iterator[Check]:
    if by is not None:
        yield recorded.of_recipe(written, by.sha256)
        yield _as_asked(written, by)
    same = list(recorded.of_output(written, released))
    yield from same
    yield from of_earlier(written, previous)
    if released.is_dir() and not all(check.holds for check in same):
        return
    files.read_source(con, released, "released", labels=True, called=("verify", "OUT"))
    alone = list(of_release(con, written, "released"))
    yield from alone
    if not all(check.holds for check in alone):
        return
    if source is None:
        yield not_checked("the raw table has the columns it had")
        yield not_checked("measures and loss: as written")
        return
    trees = source()
    gone = of_raw(con, written, "raw")
    if not gone.holds:
        yield gone
        return
    cast_values(con, "verify", "released", written["roles"]["quasi"], form_of(written))
    cohorts = written["series"].get("cohorts")
    if (cohorts is None) != (state is None):
        what = "the release is one of a series"
        yield Check(f"{what}: --series names none" if cohorts else what, None if cohorts else False)
        return
    earlier = read_earlier(con, "verify", previous, written["roles"])
    compared = whole_tuple(con, written["roles"])
    typed = in_types_of_raw(con, "released", compared)
    parameters = {**written["parameters"], **written["series"]}
    if state is not None:
        state.load(con, "verify")
        parameters |= naming(state)
    made = manifest.make(
        con, ("raw", typed), written["method"], parameters, written["roles"], trees, earlier
    )
    if cohorts is not None:
        same = made["series"]["cohorts"] == cohorts
        yield Check("series: what it promises is as written", same, "other figures")
    yield from of_pair(written, made)


def _as_asked(written: Mapping[str, Any], by: Recipe) -> Check:
    """Return whether a manifest states the method, parameters and roles of a recipe."""
    of = request_of(by)
    wanted = {n: v for n, v in {**of.required, **of.stated}.items() if v is not None}
    stated = {n: v for n, v in written["parameters"].items() if n in wanted}
    differing = [n for n, v in stated.items() if v != wanted[n]]
    differing += [n for n in manifest.ROLES if written["roles"][n] != of.roles[n]]
    differing += ["method"] * (written["method"] != by.method)
    what = "method, parameters and roles: those of the recipe"
    return Check(what, not differing, ", ".join(differing))
