"""Read what a studio was started on: a file, a table of a database, or a recipe that names one."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb

from anon_sql import system
from anon_sql.apps import files
from anon_sql.apps.cli import by_recipe
from anon_sql.apps.cli.output import read_source
from anon_sql.apps.cli.roles import as_written
from anon_sql.apps.csv import notations
from anon_sql.apps.csv.dialect import Dialect
from anon_sql.apps.csv.notations import PARAMETERS, Declared
from anon_sql.apps.formats import workbooks
from anon_sql.apps.formats.dictionary import missing
from anon_sql.apps.formats.format import FileSource
from anon_sql.apps.formats.missing_codes import Missing
from anon_sql.apps.studio import csv_file
from anon_sql.apps.studio.spelling import sentence
from anon_sql.apps.verdict import of_recipe
from anon_sql.core.names import literal
from anon_sql.errors import AnonError, Parameter, Words
from anon_sql.hosts import recipe_source, recipes
from anon_sql.hosts.files import digest
from anon_sql.hosts.recipes import Recipe

NAME = "studio"
DIALECT = (
    "delimiter",
    "quote",
    "header",
    "null",
    "encoding",
    "trim",
    "sheet",
    "first_row",
    "missing",
    "as_codes",
    "variable_labels",
    "without_total_row",
    *PARAMETERS,
)  # keys of a recipe's source
PARQUET = ".parquet"


class StudioSource:
    """The source of a studio.

    path: as the command takes it. start: the folder that the studio was started in. stated: how a
    CSV file is written, as ``csv_file.stated`` returns it, or the ``sheet`` of a workbook; None if
    nothing was said.
    """

    def __init__(self, path: Path, start: Path, stated: Mapping[str, Any] | None):
        self.path, self.start, self._stated = path, start, stated or {}
        self.is_recipe = recipes.is_recipe(path)
        self._notations: Declared = ()  # of columns, once the file was read
        self._missing: Missing = ()  # codes that the file declares
        self.merged: list[str] = []  # columns whose values differ in blanks around them alone

    @property
    def recipe(self) -> Recipe:
        """Return the recipe of a source that is one."""
        return recipes.read_recipe(NAME, self.path)

    @property
    def file(self) -> tuple[Path, str | None]:
        """Return the file, and the table of a database."""
        if self.is_recipe:
            recipe = self.recipe
            return recipe.file, recipe.table
        return files.in_database(self.path) or (self.path, None)

    @property
    def ending(self) -> str:
        """Return the extension of a release in the format of the source."""
        file, table = self.file
        if table is not None:
            return PARQUET
        _, ending = files.kind(file, NAME)
        return files.FORMATS[ending].instead or ending if ending else PARQUET

    @property
    def is_csv(self) -> bool:
        """Return whether the source is a CSV file."""
        file, table = self.file
        return table is None and files.kind(file, NAME)[0] == "csv"

    def _require_there(self) -> None:
        """Raise AnonError for a file that is gone; it may come back."""
        if not self.path.exists() and files.in_database(self.path) is None:
            hint = "was it moved or renamed?"
            raise AnonError(NAME, Parameter("FILE") + " must exist", f"no {self.path.name}", hint)

    @cached_property
    def look(self) -> csv_file.Look:
        """Return how the source is written, if it is a CSV file."""
        self._require_there()
        if self.is_recipe:
            return csv_file.Look(of_recipe.dialect_of(NAME, self.recipe))
        if not self.is_csv:
            return csv_file.Look(Dialect(sheet=self._stated.get("sheet")))
        return csv_file.look(self.path, self._stated)

    @property
    def written_as(self) -> Dialect:
        """Return how a file is read, with the notations and missing codes that its columns have."""
        as_looked_at = replace(
            self.look.dialect, missing=self.look.dialect.missing or self._missing
        )
        changed = self._notations or self.merged
        trim = bool(self.merged)
        return (
            replace(as_looked_at, notations=self._notations, trim=trim) if changed else as_looked_at
        )

    def written(self) -> dict[str, Any] | None:
        """Return how a CSV file is read; None for another source."""
        return (
            None
            if not self.is_csv
            else csv_file.described(self.file[0], replace(self.look, dialect=self.written_as))
        )

    def sheets(self) -> dict[str, bool]:
        """Return the sheets of a workbook that have rows, and whether each is hidden.

        Empty for another source, and for a recipe, which names the sheet.
        """
        file, table = self.file
        if self.is_recipe or table is not None or files.kind(file, NAME)[0] != "workbook":
            return {}
        _, ending = files.kind(file, NAME)
        return workbooks.sheets(FileSource(file, ending, False, None, (NAME, "FILE")))

    def lines(self) -> dict[str, Any]:
        """Return the first lines of a CSV file, with their values."""
        encoding = self.look.offer or self.written_as.encoding
        return {"lines": csv_file.first_lines(self.file[0], encoding), "encoding": encoding}

    def load(self, con: duckdb.DuckDBPyConnection) -> dict[str, Words]:
        """Make the relation ``raw``; return what was noticed in its columns."""
        self._require_there()
        if self.is_recipe:
            return by_recipe.load(con, NAME, self.recipe)
        noticed = read_source(con, self.path, "raw", self.look.dialect, None)
        if self.is_csv and self._stated.get("typed", True):
            self._notations = notations.proposed(con, "raw")
        self._missing = missing(con, "raw")
        self.merged = files.blanks(con, "raw", con.table("raw").columns)[1]
        if self._notations or self.merged:
            kind = "VIEW" if self.ending == PARQUET else "TABLE"
            con.execute(f"DROP {kind} raw")
            noticed = read_source(con, self.path, "raw", self.written_as, None)
        return noticed

    def relation(self, con: duckdb.DuckDBPyConnection, *, compared: bool) -> dict[str, Any]:
        """Return how DuckDB alone reads the rows of ``raw``: by a name, or else by a call.

        Both are None if it does not, or if the rows of a CSV file are too many to be compared.
        """
        none: dict[str, Any] = {"name": None, "call": None}
        file, table = self.file
        name = system.relative(file.absolute(), self.start)
        if table is not None or not file.is_file() or set(name) & set("*?[]"):
            return none
        if self.ending == PARQUET:
            return none if self.merged else {**none, "name": name}
        if not self.is_csv or not compared:
            return none
        if csv_file.same_rows(con, f"query_table({literal(str(file))})", "raw"):
            return {**none, "name": name}
        return {**none, "call": csv_file.call_of_duckdb(con, file, name, self.written_as, "raw")}

    def beside(self, columns: Mapping[str, str]) -> dict[str, Any] | None:
        """Return the recipe of this source in the present folder, and how the source differs."""
        file, table = self.file
        path = self.start / f"{file.name.split('.')[0]}.recipe.toml"
        if self.is_recipe or not path.is_file():
            return None
        try:
            recipe = recipes.read_recipe(NAME, path)
        except AnonError as error:
            return {"name": path.name, "differs": [sentence(error)[0]], "tables": None}
        differs = []
        tables = tables_of(recipe, self.start)
        if table is None and of_recipe.dialect_of(NAME, recipe) != self.written_as:
            differs.append("It reads the file in another way.")
            stated = {n: each for n, each in tables["source"].items() if n not in DIALECT}
            tables["source"] = stated | as_written(self.written_as)
        try:
            recipe_source.require_content(NAME, recipe)
        except AnonError as error:
            differs.append(sentence(error)[0])
            tables["source"]["sha256"] = digest(recipe.file)
        try:
            recipe_source.require_schema(NAME, recipe, columns)
        except AnonError as error:
            differs = [sentence(error)[0], *differs]
            return {"name": path.name, "differs": differs, "tables": None}
        return {"name": path.name, "differs": differs, "tables": tables}

    def hierarchies(self, columns: Mapping[str, str]) -> dict[str, str]:
        """Return the file of a hierarchy for each column that has one in the present folder."""
        trees: dict[str, str] = {}
        for folder in (Path("hierarchies"), Path()):
            there = {path.name for path in (self.start / folder).glob("*.csv")}
            for name in columns:
                if f"{name}.csv" in there:
                    trees.setdefault(name, str(folder / f"{name}.csv"))
        file = self.file[0].name
        return {name: path for name, path in trees.items() if path != file}


def tables_of(recipe: Recipe, folder: Path) -> dict[str, Any]:
    """Return the tables of a recipe as they are in a file in ``folder``."""
    tables = recipes.tables(NAME, recipe.path)
    tables.pop("recipe")
    for name in ("file", "database", "control"):
        if name in tables["source"]:
            path = recipe.path.parent / tables["source"][name]
            tables["source"][name] = system.relative(path, folder)
    tables["hierarchies"] = {
        name: system.relative(path, folder) for name, path in recipe.hierarchies.items()
    }
    return tables
