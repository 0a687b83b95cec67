"""Read and write CSV, TSV and Parquet files, and folders of Parquet files.

Names of files reach DuckDB as parameters only, so none of them is ever read as SQL.
"""

from pathlib import Path

import duckdb

from anon_sql.apps.csv.dialect import CsvSource, Dialect
from anon_sql.apps.csv.loading import load
from anon_sql.core.names import exactly, quote
from anon_sql.errors import AnonError
from anon_sql.hosts.files import KINDS, PACKED, files_of, require_new_folder


def kind(path: Path, function: str = "release") -> tuple[str, str]:
    """Return DuckDB's name of the format, and the extension. Raises AnonError for another one.

    A folder holds Parquet files.
    """
    if path.is_dir():
        return "parquet", ""
    for ending, name in KINDS.items():
        if path.name.lower().endswith(ending):
            return name, ending
    raise AnonError(function, f"files must end in {', '.join(KINDS)}", f"'{path.name}'")


def check_source(function: str, name: str, source: Path) -> None:
    """Raise AnonError if the source is no file of a known format. name: of the argument."""
    kind(source, function)
    if source.is_dir() and not files_of(source):
        rule = f"{name} must be a file or a folder of Parquet files"
        raise AnonError(function, rule, f"the folder '{source}' without any")
    if not source.exists():
        raise AnonError(function, f"{name} must be a file", f"'{source}'")


def check_pair(
    source: Path, target: Path, overwrite: bool, in_folder: bool, *, database: bool = False
) -> None:
    """Raise AnonError if the source is no file or the target must not be written.

    database: whether the source is a database, of which only a table is read.
    """
    if not database:
        check_source("release", "IN", source)
    if not target.parent.is_dir():
        raise AnonError("release", "OUT must be in a directory that exists", f"'{target}'")
    if target.exists() and any(map(target.samefile, (source, source.absolute().parent))):
        raise AnonError("release", "OUT must be a different file from IN", f"'{target}' twice")
    hint = "--overwrite replaces it"
    if in_folder:
        require_new_folder("OUT", target, overwrite, hint)
    elif target.exists() and not overwrite:
        raise AnonError("release", "OUT must be a new file", f"'{target}', which exists", hint)


def read(
    con: duckdb.DuckDBPyConnection,
    source: Path,
    table: str,
    *,
    labels: bool = False,
    named: Path | None = None,
    dialect: Dialect | None = None,
    called: tuple[str, str] = ("release", "IN"),
) -> dict[str, str]:
    """Create ``table`` from a file: all rows of a Parquet file, all lines of a CSV file.

    Returns a sentence for each column of a CSV that is text for the sake of a few texts.
    labels: a CSV holds a release, whose labels are text whatever they look like, '' and all.
    named: the path whose name says the format, where it is not the source. dialect: how a CSV is
    written, if not as its extension says. called: the function and the argument that errors name.
    """
    name, ending = kind(source if source.is_dir() else named or source, called[0])
    if name == "csv":
        stated = dialect or Dialect(header=labels or None)
        complete = stated.named(_delimiter(ending))
        delimiter_named = stated.delimiter is not None or labels
        csv_source = CsvSource(source, _packed(ending), complete, delimiter_named, *called)
        return load(con, csv_source, table, labels=labels)
    reader = "read_parquet(?, hive_partitioning := false)"
    con.execute(f"CREATE TABLE {quote(table)} AS FROM {reader}", [parquet(source)])
    return {}


def parquet(source: Path) -> list[str]:
    """Return DuckDB's patterns of a Parquet file, or of those in a folder, in the order of rows."""
    return [exactly(path) for path in (files_of(source) if source.is_dir() else [source])]


def write(con: duckdb.DuckDBPyConnection, select: str, temporary: Path, target: Path) -> None:
    """Write a query to ``temporary``, in the format that the name of the target says."""
    name, ending = kind(target)
    options = ["FORMAT " + name, "USE_TMP_FILE false"]
    if name == "csv":
        options.append("HEADER true")
        options.append(f"DELIMITER '{_delimiter(ending)}'")
        options.append(f"COMPRESSION {_packed(ending) or 'none'}")
    con.execute(f"COPY ({select}) TO ? ({', '.join(options)})", [str(temporary)])


def own_delimiter(path: Path) -> str:
    """Return the delimiter that the extension of a CSV or TSV file says."""
    return _delimiter(kind(path)[1])


def _delimiter(ending: str) -> str:
    return "\t" if ending.startswith(".tsv") else ","


def _packed(ending: str) -> str | None:
    return PACKED["" if ending.count(".") == 1 else ending[ending.rindex(".") :]]
