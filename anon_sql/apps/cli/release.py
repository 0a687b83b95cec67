"""``anon-sql release``: the options of the command, and which kind of release they ask for."""

from collections.abc import Callable, Mapping
from typing import Any

import typer

from anon_sql.apps import files, manifest
from anon_sql.apps.cli import by_recipe, console, linked, one_table, series
from anon_sql.apps.cli import options as arguments
from anon_sql.apps.cli.earlier import earlier_files
from anon_sql.apps.cli.options import METHOD, ReleaseCall, changed
from anon_sql.apps.cli.parameters import of_releases, with_parameters
from anon_sql.apps.cli.progress import Progress
from anon_sql.apps.cli.spelling import Options
from anon_sql.apps.csv.dialect import Dialect
from anon_sql.errors import AnonError
from anon_sql.hosts.recipes import is_linked, is_recipe

STOPPED = "release: stopped on request; nothing was written"


@with_parameters(of_releases)
@arguments.with_groups
@arguments.with_dialect
def release(
    context: typer.Context,
    source: arguments.TableOrRecipe,
    out: arguments.FileOrFolder,
    *,
    method: arguments.Method = METHOD,
    parameters: Mapping[str, Any],
    protection: arguments.Protection,
    earlier: arguments.EarlierReleases,
    in_series: arguments.SeriesOptions,
    statement: arguments.Statement,
    large: arguments.LargeTable,
    with_manifest: arguments.WithManifest = False,
    linking: arguments.Linked,
    written_as: Dialect,
    progress: Progress = None,
    overwrite: arguments.Overwrite = False,
) -> None:
    """Read IN, generalize its quasi-identifiers, and write OUT.

    Files are .csv, .tsv (also compressed, .gz or .zst), .parquet, workbooks
    (.xlsx) or files of SPSS (.sav), SAS (.xpt) or Stata (.dta). If OUT ends
    in /, it becomes a folder of Parquet files of a million rows each.
    Separate columns with commas, or repeat the option. Every column needs a
    role; --keep '*' releases all other columns unchanged. Without any role,
    the command prints suggested roles and the call with them, and writes
    nothing. More on files: anon-sql help release-a-csv-file,
    release-a-workbook and release-an-spss-file. A recipe holds all of
    these: anon-sql help release-by-a-recipe.

    Example: anon-sql release raw.csv safe.csv --quasi age,sex --sensitive income
    """
    call = ReleaseCall(
        context=context,
        source=source,
        out=out,
        method=method,
        parameters=parameters,
        protection=protection,
        earlier=earlier,
        series=in_series,
        statement=statement,
        large=large,
        with_manifest=with_manifest,
        linked=linking,
        written_as=written_as,
        progress=progress,
        overwrite=overwrite,
    )
    with console.one_sentence(STOPPED, spelling=_spelling(call)):
        _kind(call)(call)


def _spelling(call: ReleaseCall) -> Options:
    """Return how errors name options; a key is that of a series, of the release or of a ledger."""
    has_key = is_recipe(call.source) or "key" in call.parameters
    key = "series_key" if call.series.series else "key" if has_key else "ledger_key"
    previous = call.earlier.previous
    return Options(release, earlier_files(previous) if previous else {}, key)


def _kind(call: ReleaseCall) -> Callable[[ReleaseCall], None]:
    """Return what makes the release: of linked tables or one table, by options or a recipe."""
    if is_recipe(call.source):
        _require_alone(call)
        tables = is_linked("release", call.source)
        return linked.release_by_recipe if tables else by_recipe.release
    if call.linked.root is not None:
        return linked.release
    _require_one_table(call)
    return one_table.release if call.series.series is None else series.release


def _require_alone(call: ReleaseCall) -> None:
    """Raise AnonError if a recipe comes with options that it has of its own."""
    options = [each for each in call.of_one_table if each not in ("--memory-limit", "--resume")]
    if call.parameters or options or changed(call.statement) or changed(call.linked):
        rule = "a recipe must come without options of roles, parameters, statements and files"
        raise AnonError("release", rule, "some", "write them into the recipe")


def _require_one_table(call: ReleaseCall) -> None:
    """Raise AnonError for options of linked tables or of a series, and for roles without --quasi.

    A file needs quasi-identifiers; those of tables in a database may stand in comments.
    """
    for option in changed(call.linked):
        raise AnonError("release", f"{option} must come with --root")
    roles = {name for name in manifest.ROLES if call.parameters.get(name)}
    if roles and "quasi" not in roles and files.in_database(call.source) is None:
        hint = "write --quasi age,city (anon-sql roles suggests roles), or release by a recipe"
        raise AnonError("release", "--quasi must name quasi-identifiers", None, hint)
    if call.series.series is None:
        for option in changed(call.series):
            raise AnonError("release", f"{option} must come with --series")
