"""What the engine does: read the source, ask SQL, make releases, and write what is signed.

All that is asked of a release comes as the tables of a recipe, so that what is shown, checked and
signed is what a recipe says. Answers hold names, figures and statements; those of ``rows`` values.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import anon_sql
from anon_sql.apps import files, manifest
from anon_sql.apps.cli import by_recipe
from anon_sql.apps.cli.output import ReleasedRelation, ReleaseOutput, in_table
from anon_sql.apps.cli.roles import disclosed, first_recipe
from anon_sql.apps.cli.suggestions import suggestions
from anon_sql.apps.report import criteria, facts, rendering, summary
from anon_sql.apps.studio import figures
from anon_sql.apps.studio.source import NAME, StudioSource, tables_of
from anon_sql.apps.studio.spelling import words
from anon_sql.apps.verdict import of_recipe
from anon_sql.apps.verdict.criteria import gains_of, require_others, with_gains
from anon_sql.apps.verdict.figures import (
    Drawn,
    Measured,
    audit_of_made,
    measure,
    measured_of,
    rows_of,
)
from anon_sql.apps.verdict.remedies import remedied
from anon_sql.apps.verdict.rules import stricter, verdict
from anon_sql.apps.verdict.trials import MOST_CHANGES
from anon_sql.core import stopping
from anon_sql.core.duckdb_internals.settings import size_in_bytes
from anon_sql.core.names import literal, quote
from anon_sql.core.parameters import takes
from anon_sql.core.roles import fold
from anon_sql.core.running import Progress
from anon_sql.errors import AnonError, Parameter, Words
from anon_sql.hosts import recipe_source, recipes
from anon_sql.hosts.files import atomic_file, digest
from anon_sql.hosts.recipes import Recipe
from anon_sql.hosts.statements import require_review_ahead

NOT_YET, OPEN_CHECK = "none that were", "open Check and make the release"
PAGE = 20  # rows that are shown at a time
_BYTES = 8  # of a value in memory, at least
_LOOKED_AT = 100_000  # rows whose roles are suggested, of a table that is too large for all
_CELL = 64  # bytes of a value whose role is suggested
_OFFLINE = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}


@dataclass(frozen=True)
class Made:
    """A release that has been made: of which tables, and what was found."""

    tables: Mapping[str, Any]
    released: ReleasedRelation
    measured: Measured


class Bench:
    """The tables of one source, on a database in memory that spills into ``folder``.

    source: path, as the command takes it, and the folder of the start; also how a CSV file is
    written, as ``csv_file.stated`` returns it, if the first screen says so.
    """

    def __init__(self, source: Mapping[str, Any], folder: Path):
        self.folder = folder
        self.source = StudioSource(
            Path(source["path"]), Path(source["start"]), source.get("dialect")
        )
        self.start = self.source.start
        self.con = anon_sql.connect(config={**_OFFLINE, "temp_directory": str(folder)})
        self.con.execute("SET python_enable_replacements = false; SET TimeZone = 'UTC'")
        self._noticed: dict[str, Words] | None = None
        self._stack = ExitStack()  # of the release that is there
        self._made: Made | None = None
        self._there: dict[str, Any] | None = None  # the tables that the relation is the release of
        self._tried: tuple[Any, dict[str, Any]] | None = None  # for what, and the recommended k
        self._questions: tuple[Any, Drawn] | None = None  # for what, and the queries

    def table(self) -> dict[str, Any]:
        """Return what is known of the source without looking at a value, and its recipe."""
        con, tables, noticed = self.con, None, self.ready()
        if self.source.is_recipe:
            tables = tables_of(self.source.recipe, self.start)
        rows = figures.one(con, "rows", "SELECT count(*) AS rows FROM raw")
        columns = by_recipe.types_of_raw(con)
        file, table = self.source.file
        return {
            "name": file.name + (f", table {table}" if table else ""),
            "stem": file.name.split(".")[0],
            "rows": asdict(rows),
            "columns": columns,
            "bytes": file.stat().st_size if file.is_file() else None,
            "sha256": digest(file) if table is None else None,
            "written": self.source.written(),
            "sheets": self.sheets(),
            "noticed": words(noticed.items()),
            "every": self._every(),
            "beside": self.source.beside(columns),
            "tables": tables,
            "hierarchies": self.source.hierarchies(columns),
            "methods": rows_of(con, "SELECT name, what, needs, perturbative FROM anon_methods()"),
            "relation": self.source.relation(con, compared=self._every() == 1),
            "ending": self.source.ending,
            "merged": self.source.merged,
        }

    def detected(self) -> dict[str, Any] | None:
        """Return how a CSV file looks, which may not be readable; None for another source."""
        return self.source.written()

    def sheets(self) -> dict[str, bool]:
        """Return the sheets of a workbook, and whether each is hidden; {} for another source."""
        return self.source.sheets()

    def lines(self) -> dict[str, Any]:
        """Return the first lines of a CSV file, with their values."""
        return self.source.lines()

    def ready(self) -> dict[str, Words]:
        """Read the source, once; return what was noticed in its columns."""
        if self._noticed is None:
            self._noticed = self.source.load(self.con)
        return self._noticed

    def _every(self) -> int:
        """Return 1, or n for a table so large that only every nth row is looked at for its roles.

        Such a table is larger than a quarter of the memory that DuckDB may use.
        """
        query = "SELECT count(*), current_setting('memory_limit') FROM raw"
        ((rows, limit),) = self.con.execute(query).fetchall()
        columns, memory = len(self.con.table("raw").columns), size_in_bytes(limit)
        if memory is None or rows * columns * _BYTES <= memory / 4:
            return 1
        looked_at = max(min(_LOOKED_AT, memory // (4 * _CELL * columns)), 1)
        return -(-int(rows) // looked_at)

    def roles(self) -> dict[str, Any]:
        """Return the suggestion for each column, with its figures; and a first recipe."""
        of, every = "raw", self._every()
        if every > 1:
            of = "few"
            self.con.execute("CREATE OR REPLACE TABLE few AS " + figures.every_row(every))
        suggested = suggestions(self.con, NAME, of)
        tables = first_recipe(
            self.con, self.source.path, self.start, suggested, self.source.written_as
        )
        return {
            "columns": [figures.of_column(each, of) for each in suggested],
            "tables": None if self.source.is_recipe else tables,
        }

    def first(self, tables: Mapping[str, Any]) -> dict[str, Any]:
        """Return l and t of a first recipe with these roles, and why t is another than at first."""
        others = {n: each for n, each in tables["release"].items() if n not in ("l", "t")}
        release = {**others, **disclosed(tables["roles"])}
        self._trees(recipe := self._recipe({**tables, "release": release}))
        tried = of_recipe.try_first(self.con, NAME, recipe)
        if tried is None or not tried.why:
            return {"release": release, "why": ""}
        return {"release": {**release, "t": tried.t}, "why": tried.why}

    def risk(self, tables: Mapping[str, Any], suggested: Sequence[str]) -> dict[str, Any]:
        """Return what an attacker who knows the quasi-identifiers finds in the raw table.

        suggested: the columns that are taken where none is a quasi-identifier.
        """
        quasi = self._recipe(tables).roles["quasi"] or suggested
        if not quasi:
            return {"figures": [], "sets": []}
        return figures.raw_risk(self.con, quasi, with_sets=self._every() == 1)

    def tree(self, file: str) -> dict[str, Any]:
        """Return the hierarchy in a file of the start folder; its values are counted only."""
        return figures.tree(self.con, str(self.start / file), file)

    def preview(self, tables: Mapping[str, Any]) -> dict[str, Any]:
        """Make a release with little effort and return what it keeps."""
        recipe = self._recipe(tables)
        if "effort" in takes(recipe.method):
            recipe = replace(recipe, parameters={**recipe.parameters, "effort": "fast"})
        with Progress(NAME, 2) as progress:
            _show(progress, "release", 0)
            _, request = self._make(recipe, tables)
            _show(progress, "measures")
            measures = figures.of_release(self.con, request)
        return {**measures, "release": figures.release_statement(recipe, "raw")}

    def attacks(self, tables: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the release that is there discloses and costs, as a verdict takes it."""
        recipe = self._recipe(tables)
        drawn = self._drawn(recipe)
        measured = measure(
            self.con,
            of_recipe.requested(recipe),
            None,
            drawn=drawn,
            form=recipe.parameters.get("format"),
        )
        return {"measured": asdict(measured)}

    def compare(self, tables: Mapping[str, Any]) -> dict[str, Any]:
        """Return the recommended k, and what releases with other k and l would lose."""
        self._trees(recipe := self._recipe(tables))
        return self._recommended(recipe)

    def _recommended(self, recipe: Recipe) -> dict[str, Any]:
        """Return the recommended k; the last one again if only k or l is another."""
        request = of_recipe.requested(recipe)
        others = {name: value for name, value in request.items() if name not in ("k", "l")}
        key = (others, recipe.hierarchies, recipe.environment, recipe.stricter)
        if self._tried is None or self._tried[0] != key:
            judging = of_recipe.judging(recipe, NAME)
            drawn = self._drawn(recipe)
            self._tried = key, facts.recommended(self.con, request, judging, drawn)
        return self._tried[1]

    def _gains(self, recipe: Recipe, request: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return what isolation, linkage and inference find of the release that is there."""
        of_recipe.read_control(self.con, NAME, recipe)
        if recipe.control is not None:
            require_others(NAME, self.con, request)
        return gains_of(self.con, request, control=recipe.control is not None)

    def _criteria(self, recipe: Recipe, measured: Measured) -> dict[str, Any]:
        """Return what the screen and the summary say of isolation, linkage and inference."""
        sources = summary.Sources(recipe.file, recipe.file, control=recipe.control)
        limits = stricter(NAME, recipe.stricter)
        return criteria.sections(measured.gains, sources.control_facts(self.con), limits)

    def _drawn(self, recipe: Recipe) -> Drawn:
        """Return the queries on the quasi-identifiers; the last ones again if they are the same."""
        request = of_recipe.requested(recipe)
        key = (request["quasi"], recipe.hierarchies)
        if self._questions is None or self._questions[0] != key:
            self._questions = key, Drawn(self.con, request)
        return self._questions[1]

    def check(self, tables: Mapping[str, Any]) -> dict[str, Any]:
        """Make the release, audit and attack it, and judge it."""
        recipe = self._recipe(tables)
        with Progress(NAME, 6) as progress:
            _show(progress, "release", 0)
            released, request = self._make(recipe, tables)
            _show(progress, "audit")
            checks = audit_of_made(self.con, request)
            _show(progress, "verdict")
            measured = measure(
                self.con,
                request,
                checks,
                drawn=self._drawn(recipe),
                form=recipe.parameters.get("format"),
            )
            _show(progress, "attacks")
            measured = with_gains(measured, self._gains(recipe, request))
            attacked = figures.attacks(self.con, request)
            _show(progress, "figures")
            measures = figures.of_release(self.con, request)
            _show(progress, "distributions")
            spread = figures.distributions(self.con, request)
        self._made = Made(copy.deepcopy(dict(tables)), released, measured)
        return {
            **measures,
            "measured": asdict(measured),
            "criteria": self._criteria(recipe, measured),
            "attacks": attacked,
            "distributions": spread,
            "release": figures.release_statement(recipe, "raw"),
        }

    def remedies(
        self, tables: Mapping[str, Any], measured: Mapping[str, Any], made: bool
    ) -> dict[str, Any]:
        """Return the reasons of the verdict on a release, as they end after trials.

        measured: of the release, as ``check`` or ``attacks`` returns it. made: whether a release
        that is no longer there is made again, for what counts its rows.
        """
        recipe = self._recipe(tables)
        if made and not self._is_there(tables):
            self.check(tables)
        self._require_there(tables)
        judging = of_recipe.judging(recipe, NAME)
        judgment = verdict(measured_of(measured), **judging)
        request = {**recipe.parameters, **of_recipe.requested(recipe)}
        with Progress(NAME, MOST_CHANGES + 1) as progress:
            _show(progress, "trying the release on few rows", 0)
            tried = remedied(
                self.con,
                recipe.method,
                request,
                judgment,
                judging,
                lambda note: _show(progress, note),
            )
        return {"reasons": [asdict(each) for each in tried.reasons]}

    def question(self, tables: Mapping[str, Any], sql: str) -> dict[str, Any]:
        """Return how wrong the release answers a question that the user has typed."""
        self._require_made(tables)
        request = of_recipe.requested(self._recipe(tables))
        return figures.question(self.con, request, sql)

    def rows(
        self,
        table: str,
        offset: int,
        tables: Mapping[str, Any] | None = None,
        clear: bool = False,
    ) -> dict[str, Any]:
        """Return a page of rows. clear: whether identifiers are shown too."""
        if table == "released":
            self._require_made(tables or {})
        hidden = set()
        if table != "released" and not clear and tables:
            hidden = {fold(name) for name in self._recipe(tables).roles["identifiers"]}
        name = "released" if table == "released" else "raw"
        columns = self.con.table(name).columns
        shown = ", ".join(
            literal(figures.MASK) if fold(each) in hidden else f"{quote(each)}::VARCHAR"
            for each in columns
        )
        rows = self.con.execute(
            f"SELECT {shown} FROM {name} LIMIT {PAGE} OFFSET ?", [max(offset, 0)]
        ).fetchall()
        return {"columns": columns, "rows": rows, "offset": max(offset, 0), "hidden": bool(hidden)}

    def pairs(self, tables: Mapping[str, Any], offset: int, clear: bool) -> dict[str, Any]:
        """Return raw rows beside rows of the release that is there, which may be a quick one.

        clear: whether identifiers are shown too.
        """
        recipe = self._recipe(tables)
        self._require_there(tables)
        hidden = [] if clear else recipe.roles["identifiers"]
        rows = figures.pairs(self.con, of_recipe.requested(recipe), max(offset, 0), hidden)
        return {**rows, "hidden": bool(hidden)}

    def save(self, tables: Mapping[str, Any], file: str, overwrite: bool) -> dict[str, Any]:
        """Write the recipe alone."""
        self._recipe(tables)
        path = self._new(file, (".toml",), overwrite)
        with atomic_file(path) as temporary:
            recipes.write(temporary, **tables)
        return {"written": [path.name]}

    def sign(
        self, tables: Mapping[str, Any], names: Mapping[str, str], overwrite: bool
    ) -> dict[str, Any]:
        """Write release, manifest, recipe and summary, unless the verdict is red or open.

        names: of release, recipe and summary, in the folder of the start.
        """
        recipe = self._recipe(tables)
        if self._made is None or not _same(self._made.tables, tables):
            self.check(tables)
        made = self._made
        assert made is not None
        judged = verdict(made.measured, **of_recipe.judging(recipe, NAME))
        of_recipe.require_stated(NAME, recipe.statement)
        require_review_ahead(NAME, recipe.statement, Parameter)
        of_recipe.require_signable(NAME, judged)
        paths = {
            "release": self._new(names["release"], tuple(files.FORMATS), overwrite),
            "recipe": self._new(names["recipe"], (".toml",), overwrite),
            "summary": self._new(names["summary"], (".html",), overwrite),
        }
        output = ReleaseOutput(paths["release"], False, True)
        database = recipe.table is not None
        output.prepare(recipe.file, recipe.parameters.get("format"), overwrite, database=database)
        recipe_source.require_content(NAME, recipe)
        with _all_or_none([*paths.values(), output.manifest]):
            with atomic_file(paths["recipe"]) as temporary:
                recipes.write(temporary, **tables)
            recipe = recipes.read_recipe(NAME, paths["recipe"])
            self.con.execute("DROP TABLE IF EXISTS written")  # of an attempt before
            written = by_recipe.write(
                self.con, recipe, by_recipe.request_of(recipe), output, made.released
            )
            complete = manifest.with_output(written, output.target)
            sources = summary.Sources(recipe.file, output.target, recipe, control=recipe.control)
            request = {**of_recipe.requested(recipe), **manifest.stated(recipe.statement)}
            content = facts.of_summary(
                self.con,
                request,
                {
                    "checks": made.measured.checks,
                    "figures": [asdict(each) for each in made.measured.figures],
                    "verdict": judged.facts(),
                    "criteria": self._criteria(recipe, made.measured),
                    "recommended": self._recommended(recipe),
                },
                complete,
                sources,
                self._drawn(recipe),
            )
            with atomic_file(paths["summary"]) as temporary:
                temporary.write_text(rendering.of_summary(content), "utf-8")
        without = {name: each for name, each in complete.items() if name != "recipe"}
        written_as = of_recipe.dialect_of(NAME, recipe)
        plain = summary.Sources(recipe.file, output.target, dialect=written_as)
        return {
            "written": [path.name for path in (*paths.values(), output.manifest)],
            "sha256": complete["output"]["sha256"],
            "command": None
            if database or recipe.hierarchies
            else summary.command(without, plain, None),
        }

    def _recipe(self, tables: Mapping[str, Any]) -> Recipe:
        return recipes.parse(NAME, self.start / "recipe.toml", {"recipe": recipes.FORM, **tables})

    def _make(
        self, recipe: Recipe, tables: Mapping[str, Any]
    ) -> tuple[ReleasedRelation, dict[str, Any]]:
        """Make the relation ``released`` in place of the last one; return it and the request."""
        self._made = self._there = None
        self.con.execute("DROP VIEW IF EXISTS temp.released")
        self._stack.close()
        self._trees(recipe)
        of, place = by_recipe.request_of(recipe), self.folder / "released.parquet"
        released = self._stack.enter_context(in_table(self.con, of, place))
        self._there = copy.deepcopy(dict(tables))
        return released, of_recipe.requested(recipe)

    def _trees(self, recipe: Recipe) -> None:
        self.con.execute(f"DROP TABLE IF EXISTS {of_recipe.HIERARCHY}")
        if recipe.hierarchies:
            paths = [str(path) for path in recipe.hierarchies.values()]
            self.con.execute(
                f"CREATE TABLE {of_recipe.HIERARCHY} AS FROM read_hierarchies(?)", [paths]
            )

    def _is_there(self, tables: Mapping[str, Any]) -> bool:
        """Return whether the relation ``released`` is of these tables, be it a quick release."""
        return self._there is not None and _same(self._there, tables)

    def _require_there(self, tables: Mapping[str, Any]) -> None:
        if not self._is_there(tables):
            raise AnonError(NAME, "these settings must have a release to show", "none yet")

    def _require_made(self, tables: Mapping[str, Any]) -> None:
        if self._made is None or not _same(self._made.tables, tables):
            raise AnonError(NAME, "these settings must be checked first", NOT_YET, OPEN_CHECK)

    def _new(self, name: str, endings: tuple[str, ...], overwrite: bool) -> Path:
        """Return the path of a file to write in the folder of the start."""
        path = self.start / name
        if not name or Path(name).name != name or name.startswith(".") or "\0" in name:
            raise AnonError(NAME, "a file must have a plain name", f"'{name}'")
        if not name.lower().endswith(endings):
            raise AnonError(NAME, f"the file must end in {' or '.join(endings)}", f"'{name}'")
        if path.exists() and not overwrite:
            hint = "choose another name, or allow that it is replaced"
            raise AnonError(NAME, "the file must be new", f"'{name}', which exists", hint)
        return path


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two recipes make one release; words do not matter."""
    return all(
        one.get(name) == other.get(name) for name in ("source", "release", "hierarchies")
    ) and {**one["roles"], "confirmed": None} == {**other["roles"], "confirmed": None}


@contextmanager
def _all_or_none(paths: Sequence[Path]) -> Iterator[None]:
    """Remove those files that were not there before, if one of them cannot be written."""
    new = [path for path in paths if not path.exists()]
    try:
        yield
    except BaseException:
        for path in new:
            path.unlink(missing_ok=True)
        raise


def _show(progress: Progress, note: str, done: int = 1) -> None:
    stopping.check(NAME)
    progress.note = note
    progress.advance(done)
