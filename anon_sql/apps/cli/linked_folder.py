"""Read a folder of tables that belong together: a file per table, in any format of ``FORMATS``."""

from collections.abc import Iterator
from pathlib import Path

import duckdb

from anon_sql.apps import files, manifest
from anon_sql.apps.cli import console
from anon_sql.apps.cli.options import note_file
from anon_sql.apps.formats.format import FileSource
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, Parameter, Words
from anon_sql.hosts.recipes import is_recipe

_CONVERT = "write it as Parquet first; a file in a folder takes no options"


def read_folder(con: duckdb.DuckDBPyConnection, function: str, argument: str, folder: Path) -> None:
    """Make a table of each file in a folder, named as the file is without its ending.

    function, argument: that errors name. Hidden files, recipes and manifests are not tables, and
    each folder within is named as not read. Raises AnonError for any other file that is not a
    table, and for two files of one table.
    """
    sources: dict[str, Path] = {}
    for file in _files(argument, folder):
        table = _table_of(function, argument, file)
        other = sources.setdefault(fold(table), file)
        if other is not file:
            rule = Parameter(argument) + " must have one file per table"
            got = f"'{other.name}' and '{file.name}'"
            raise AnonError(function, rule, got, "move one of them out of the folder")
        _read_table(con, (function, f"'{file.name}' in {argument}"), file, table)


def _files(argument: str, folder: Path) -> Iterator[Path]:
    """Yield the files that must be tables, by name."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir():
            console.note(f"{path.name}: this folder in {argument} is not read")
        elif not is_recipe(path) and not path.name.lower().endswith(manifest.ENDING):
            yield path


def _table_of(function: str, argument: str, file: Path) -> str:
    """Return the name of the table in a file. Raises AnonError for a file of another kind."""
    ending = next((each for each in files.FORMATS if file.name.lower().endswith(each)), None)
    if ending is None:
        endings = ", ".join(files.FORMATS)
        rule = Parameter(argument) + f" must hold no other files than tables ({endings})"
        hint = "move it out of the folder, or write it in one of these formats"
        raise AnonError(function, rule, f"'{file.name}'", hint)
    return file.name[: -len(ending)]


def _read_table(
    con: duckdb.DuckDBPyConnection, called: tuple[str, str], file: Path, table: str
) -> None:
    """Make the table of a file: a view of Parquet, so that its rows stay in the file."""
    if files.kind(file)[0] == "parquet":
        files.parquet_rows(con, FileSource(file, ".parquet", False, None, called)).create_view(
            table
        )
        return
    try:
        note_file(file, files.read_source(con, file, table, called=called))
    except AnonError as error:
        if isinstance(error.hint, Words):  # it names an option
            raise AnonError(error.function, error.rule, error.got, _CONVERT) from None
        raise
