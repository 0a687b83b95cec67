"""Read and write CSV, TSV and Parquet files.

Names of files reach DuckDB as parameters only, so none of them is ever read as SQL.
"""

import re
from pathlib import Path

import duckdb

from anon_sql.core.names import quote
from anon_sql.errors import AnonError

KINDS = {".csv": "csv", ".tsv": "csv", ".csv.gz": "csv", ".tsv.gz": "csv", ".parquet": "parquet"}


def kind(path: Path, function: str = "release") -> tuple[str, str]:
    """Return DuckDB's name of the format, and the extension. Raises AnonError for another one."""
    for ending, name in KINDS.items():
        if path.name.lower().endswith(ending):
            return name, ending
    raise AnonError(function, f"files must end in {', '.join(KINDS)}", f"'{path.name}'")


def check_source(function: str, name: str, source: Path) -> None:
    """Raise AnonError if the source is no file of a known format. name: of the argument."""
    kind(source, function)
    if not source.is_file():
        raise AnonError(function, f"{name} must be a file", f"'{source}'")


def check_pair(source: Path, target: Path, overwrite: bool) -> None:
    """Raise AnonError if the source is no file or the target must not be written."""
    check_source("release", "IN", source)
    if not target.parent.is_dir():
        raise AnonError("release", "OUT must be in a directory that exists", f"'{target}'")
    if target.is_dir():
        raise AnonError("release", "OUT must be a file", f"the directory '{target}'")
    if target.exists() and source.samefile(target):
        raise AnonError("release", "OUT must be another file than IN", f"'{target}' twice")
    if target.exists() and not overwrite:
        hint = "--overwrite replaces it"
        raise AnonError("release", "OUT must be a new file", f"'{target}', which exists", hint)


def read(
    con: duckdb.DuckDBPyConnection,
    source: Path,
    table: str,
    *,
    labels: bool = False,
    named: Path | None = None,
) -> None:
    """Create ``table`` from a file; a CSV's first line is its header, types come from all rows.

    labels: a CSV holds a release, whose labels are text whatever they look like, '' and all.
    named: the path whose name says the format, where it is not the source.
    """
    name, ending = kind(named or source)
    if name == "parquet":
        reader = "read_parquet(?, hive_partitioning := false)"
    else:
        delim = ", delim := '\t'" if ending.startswith(".tsv") else ""
        packed = "gzip" if ending.endswith(".gz") else "none"
        types = (
            "all_varchar := true, allow_quoted_nulls := false" if labels else "sample_size := -1"
        )
        reader = (
            f"read_csv(?, header := true, {types}, hive_partitioning := false, "
            f"compression := '{packed}'{delim})"
        )
    con.execute(f"CREATE TABLE {quote(table)} AS FROM {reader}", [_exactly(source)])


def write(con: duckdb.DuckDBPyConnection, table: str, unfinished: Path, target: Path) -> None:
    """Write ``table`` to ``unfinished``, in the format that the name of the target says."""
    name, ending = kind(target)
    options = ["FORMAT " + name, "USE_TMP_FILE false"]
    if name == "csv":
        options.append("HEADER true")
        options.append("DELIMITER '\t'" if ending.startswith(".tsv") else "DELIMITER ','")
        options.append("COMPRESSION " + ("gzip" if ending.endswith(".gz") else "none"))
    con.execute(f"COPY {quote(table)} TO ? ({', '.join(options)})", [str(unfinished)])


def _exactly(path: Path) -> str:
    """Return DuckDB's pattern that matches this one file."""
    return re.sub(r"([*?\[])", r"[\1]", str(path.absolute()))
