"""Read and write files in the formats of the table ``FORMATS``, and folders of Parquet files.

Names of files reach DuckDB as parameters only, so none of them is ever read as SQL.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from anon_sql.apps.csv.dialect import UTF_8, Dialect
from anon_sql.apps.csv.loading import OF_FILE, load
from anon_sql.apps.csv.source import CsvSource
from anon_sql.apps.csv.texts import WITHOUT_TOTAL
from anon_sql.apps.formats import (
    json_lines,
    statistics,
    statistics_writing,
    workbook_writing,
    workbooks,
)
from anon_sql.apps.formats.format import FileSource, Format, nested_columns
from anon_sql.core.columns import is_nested
from anon_sql.core.names import exactly, literal, quote, split
from anon_sql.errors import AnonError, Option, Parameter, Words, joined, listed
from anon_sql.hosts.contents import require_parquet
from anon_sql.hosts.duckdb.roles import carry_comments
from anon_sql.hosts.files import (
    KINDS,
    PACKED,
    files_of,
    is_pattern,
    members,
    require_new_folder,
)

_IN_DATABASE = re.compile(r"(?P<file>.+\.(?:duckdb|db)):(?P<table>.+)", re.IGNORECASE | re.DOTALL)
_SEVERAL = ("csv", "parquet", "json")  # formats whose files a pattern can name


def kind(path: Path, function: str = "release") -> tuple[str, str]:
    """Return DuckDB's name of the format, and the extension. Raises AnonError for another one.

    A folder holds Parquet files.
    """
    if path.is_dir():
        return "parquet", ""
    for ending, file_format in FORMATS.items():
        if path.name.lower().endswith(ending):
            return file_format.name, ending
    raise AnonError(function, f"files must end in {', '.join(FORMATS)}", f"'{path.name}'")


def in_database(source: Path) -> tuple[Path, str] | None:
    """Return the file and the table that ``FILE.duckdb:schema.table`` means; None for a file."""
    match = _IN_DATABASE.fullmatch(str(source))
    return (Path(match["file"]), match["table"]) if match else None


def read_table(
    con: duckdb.DuckDBPyConnection,
    file: Path,
    name: str,
    view: str,
    called: tuple[str, str],
    *,
    trim: bool = False,
) -> None:
    """Make a view of a table of a database file, which is attached and never written.

    The view has the comments of the table, which declare roles. called: the function and the
    argument that errors name. trim: whether blanks around texts are removed.
    """
    path = str(file.resolve())
    attached = con.execute(
        "SELECT database_name FROM duckdb_databases() WHERE path = ?", [path]
    ).fetchall()
    alias = attached[0][0] if attached else f"source_of_{view}"
    try:
        if not attached:
            con.execute(f"ATTACH {literal(path)} AS {quote(alias)} (READ_ONLY)")
        table = ".".join(map(quote, [alias, *split(name)]))
        rows = con.sql(f"FROM {table}")
        (trimmed(rows) if trim else rows).create_view(view)
        carry_comments(con, called[0], (alias, *split(name)), view)
    except duckdb.CatalogException:
        rule = Parameter(called[1]) + f" must be a table of '{file.name}'"
        raise AnonError(called[0], rule, f"'{name}'", "write schema.table") from None
    except duckdb.IOException:
        rule = Parameter(called[1]) + " must be in a database that can be read"
        raise AnonError(called[0], rule, f"'{file.name}'") from None


def check_source(function: str, name: str, source: Path) -> None:
    """Raise AnonError if the source is no file of a known format. name: of the argument.

    A table of a database is a source if the file exists.
    """
    if (stored := in_database(source)) is not None:
        if not stored[0].is_file():
            raise AnonError(function, Parameter(name) + " must be in a file", f"'{stored[0]}'")
        return
    if not source.suffix and not source.exists():
        rule = Parameter(name) + " must be a file or a folder"
        raise AnonError(function, rule, f"'{source}', which does not exist")
    kind(source, function)
    if source.is_dir() and not files_of(source):
        rule = Parameter(name) + " must be a file or a folder of Parquet files"
        raise AnonError(function, rule, f"the folder '{source}' without any")
    if is_pattern(source):
        require_members(function, name, source)
    elif not source.exists():
        raise AnonError(function, Parameter(name) + " must be a file", f"'{source}'")


def require_members(function: str, name: str, source: Path) -> None:
    """Raise AnonError for a pattern that no file fits, or that is of a format of single files."""
    rule = Parameter(name) + " must be a file, or a pattern of files"
    if not members(source):
        raise AnonError(function, rule, f"'{source}', which fits none")
    if kind(source, function)[0] not in _SEVERAL:
        got = f"'{source.name}', a pattern of another format"
        hint = "patterns read CSV, Parquet and JSON lines; convert each file first"
        raise AnonError(function, rule, got, hint)
    odd = next((file for file in members(source) if not file.stat().st_size), None)
    if odd is not None:
        raise AnonError(function, rule, f"'{odd.name}', which is empty")


def check_pair(
    source: Path, target: Path, overwrite: bool, in_folder: bool, *, database: bool = False
) -> None:
    """Raise AnonError if the source is no file or the target must not be written.

    database: whether the source is a database, of which only a table is read.
    """
    if not database:
        check_source("release", "IN", source)
    source = (in_database(source) or (source,))[0]
    if not target.parent.is_dir():
        rule = Parameter("OUT") + " must be in a directory that exists"
        raise AnonError("release", rule, f"'{target}'")
    used = (*members(source), source.absolute().parent)
    if target.exists() and any(map(target.samefile, used)):
        rule = Parameter("OUT") + " must be a different file from " + Parameter("IN")
        raise AnonError("release", rule, f"'{target}' twice")
    hint = Option("--overwrite", verb="") + " replaces it"
    if in_folder:
        require_new_folder("OUT", target, overwrite, hint)
    elif target.exists() and not overwrite:
        rule, got = Parameter("OUT") + " must be a new file", f"'{target}', which exists"
        raise AnonError("release", rule, got, hint)


def read_source(
    con: duckdb.DuckDBPyConnection,
    source: Path,
    table: str,
    *,
    labels: bool = False,
    named: Path | None = None,
    dialect: Dialect | None = None,
    called: tuple[str, str] = ("release", "IN"),
) -> dict[str, Words]:
    """Create ``table`` from all rows of a file, as its format reads it.

    A table of a database becomes a view. Returns a sentence for each column that is not what a
    person expects, such as text for the sake of a few texts.
    labels: a CSV holds a release, whose labels are text whatever they look like, '' and all.
    named: the path whose name says the format, where it is not the source. dialect: how a CSV is
    written, if not as its extension says. called: the function and the argument that errors name.
    """
    if (stored := in_database(source)) is not None:
        refuse_total_row(dialect, called)
        read_table(con, *stored, table, called, trim=bool(dialect and dialect.trim))
        return {}
    name, ending = kind(source if source.is_dir() else named or source, called[0])
    if name == "statistics":
        refuse_total_row(dialect, called)
    read_file = FORMATS[ending or ".parquet"].read
    return read_file(con, FileSource(source, ending, labels, dialect, called), table)


def _read_csv(con: duckdb.DuckDBPyConnection, source: FileSource, table: str) -> dict[str, Words]:
    stated = replace(_csv_source(source), is_one_of_several=source.is_pattern)
    pairs = [replace(stated, path=path).with_delimiter() for path in source.files]
    notice = pairs[0][1]
    notices_by_column = load(con, [file for file, _ in pairs], table, labels=source.labels)
    if notice is None:
        return notices_by_column
    notices = [notice, *([notices_by_column[OF_FILE]] if OF_FILE in notices_by_column else [])]
    return {**notices_by_column, OF_FILE: joined("; ", notices)}


def _csv_source(source: FileSource) -> CsvSource:
    stated = source.dialect or Dialect(header=source.labels or None)
    complete = stated.named(_delimiter(source.ending))
    delimiter_named = stated.delimiter is not None or source.labels
    packing = _packed(source.ending)
    return CsvSource(source.path, packing, complete, delimiter_named, *source.called)


def detected(
    source: Path, dialect: Dialect, called: tuple[str, str], *, propose: bool = True
) -> tuple[Dialect, list[Words]]:
    """Return a dialect with what a CSV file shows of it, and a sentence for each such setting.

    The delimiter is detected. An encoding other than UTF-8 is proposed: a person must look at the
    letters. Another source than a CSV file leaves the dialect as it is. propose: False
    if UTF-8 was stated, not merely assumed.
    """
    if in_database(source) or (file_kind := kind(source, called[0]))[0] != "csv":
        return dialect, []
    first = FileSource(members(source)[0], file_kind[1], False, dialect, called)
    file, sentences = _csv_source(first), []
    encoding = file.encoding() if propose and dialect.encoding == UTF_8 else None
    if encoding not in (None, UTF_8):
        file = replace(file, dialect=replace(file.dialect, encoding=encoding))
        sentences.append(
            f"it is not UTF-8, but probably {encoding}: look at its letters, then "
            + Option("--encoding", encoding)
        )
    file, notice = file.with_delimiter()
    if notice is None:
        return replace(file.dialect, delimiter=dialect.delimiter), sentences
    return file.dialect, [*sentences, notice]


def _read_parquet(
    con: duckdb.DuckDBPyConnection, source: FileSource, table: str
) -> dict[str, Words]:
    parquet_rows(con, source).create(table)
    return {}


def parquet_rows(con: duckdb.DuckDBPyConnection, source: FileSource) -> duckdb.DuckDBPyRelation:
    """Return the rows of a Parquet file, of those in a folder, or of those that a pattern fits.

    Raises AnonError as ``parquet`` does, for nested columns, which only a release may have, and
    unless DuckDB reads each row of each file.
    """
    refuse_total_row(source.dialect, source.called)
    rows = con.read_parquet(parquet(source.path, source.called), hive_partitioning=False)
    kinds = dict(zip(rows.columns, map(str, rows.types), strict=True))
    nested = [name for name, sql_type in kinds.items() if is_nested(sql_type)]
    if nested and not source.labels:
        raise nested_columns(source, nested, kinds[nested[0]])
    if is_pattern(source.path):
        wanted = sum(pq.read_metadata(path).num_rows for path in members(source.path))
        ((count,),) = rows.count("*").fetchall()
        if count != wanted:
            got, hint = f"{count:,}", "nothing was read; please report this"
            raise source.error(f"have its {wanted:,} rows read", got, hint)
    return trimmed(rows) if source.dialect and source.dialect.trim else rows


def refuse_total_row(dialect: Dialect | None, called: tuple[str, str]) -> None:
    """Raise AnonError for a total row that is to be left out of a file of another format."""
    if dialect is not None and dialect.without_total_row:
        raise AnonError(
            called[0],
            Option(WITHOUT_TOTAL, verb="") + " must come with CSV, JSON lines or a workbook",
            "another source",
            "leave the row out where the source is made",
        )


def trimmed(rows: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Return a relation without the blanks around its texts."""
    columns = dict(zip(rows.columns, map(str, rows.types), strict=True))
    return rows.project(
        ", ".join(
            f"__anon_trimmed({quote(name)}::VARCHAR) AS {quote(name)}"
            if kind == "VARCHAR" or kind.startswith("ENUM(")
            else quote(name)
            for name, kind in columns.items()
        )
    )


def blanks(
    con: duckdb.DuckDBPyConnection, table: str, columns: Sequence[str]
) -> tuple[dict[str, int], list[str]]:
    """Return the number of texts with blanks around them, by column that has any.

    Also returns the columns of which trimming merges values: they differ only in such blanks.
    """
    relation = con.table(table)
    kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))
    texts = [name for name in columns if kinds[name].startswith(("VARCHAR", "ENUM("))]
    texts = [name for name in texts if not kinds[name].endswith("]")]
    if not texts:
        return {}, []
    counts = ", ".join(f"count(CASE WHEN __anon_has_blanks({quote(x)}) THEN 1 END)" for x in texts)
    (row,) = con.execute(f"SELECT {counts} FROM {quote(table)}").fetchall()
    with_blanks = {name: count for name, count in zip(texts, row, strict=True) if count}
    if not with_blanks:
        return {}, []
    same = ", ".join(
        f"count(DISTINCT {x}) > count(DISTINCT __anon_trimmed({x}::VARCHAR))"
        for x in map(quote, with_blanks)
    )
    (merged,) = con.execute(f"SELECT {same} FROM {quote(table)}").fetchall()
    return with_blanks, [name for name, less in zip(with_blanks, merged, strict=True) if less]


def parquet(source: Path, called: tuple[str, str]) -> list[str]:
    """Return DuckDB's patterns of a Parquet file, or of those in a folder, in the order of rows.

    called: the function and the argument that errors name. Raises AnonError for other content, for
    two columns with one name, and for other columns in a file that a pattern fits.
    """
    paths = files_of(source) if source.is_dir() else members(source)
    for path in paths:
        require_parquet(*called, path)
    if is_pattern(source):
        _require_alike(paths, called)
    return [exactly(path) for path in paths]


def _require_alike(paths: Sequence[Path], called: tuple[str, str]) -> None:
    """Raise AnonError if a Parquet file has other columns or types than the first one."""
    first = pq.read_schema(paths[0])
    for path in paths[1:]:
        schema = pq.read_schema(path)
        pairs = list(zip_longest(schema, first))
        wrong = [(one, other) for one, other in pairs if not _is_alike(one, other)]
        if wrong:
            one, other = wrong[0]
            name = listed([(other or one).name])
            rule = f" must have the columns of '{paths[0].name}', in their order and of their types"
            got = f"another column than {name}" if other else f"the column {name} besides"
            raise AnonError(called[0], Parameter(called[1]) + rule, f"{got} in '{path.name}'")


def _is_alike(one: pa.Field | None, other: pa.Field | None) -> bool:
    """Return whether two columns of Parquet files have one name and one type."""
    return (
        one is not None and other is not None and (one.name, one.type) == (other.name, other.type)
    )


def write(con: duckdb.DuckDBPyConnection, select: str, temporary: Path, target: Path) -> None:
    """Write a query to ``temporary``, in the format that the name of the target says."""
    ending = require_written(target)
    FORMATS[ending].write(con, select, temporary, ending)


def require_written(target: Path) -> str:
    """Return the ending of a file that can be written. Raises AnonError for one of another kind."""
    _, ending = kind(target)
    if instead := FORMATS[ending].instead:
        rule = Parameter("OUT") + " must be of a format that can be written"
        raise AnonError("release", rule, f"a {ending} file", f"name it {instead}")
    return ending


def _write_csv(con: duckdb.DuckDBPyConnection, select: str, path: Path, ending: str) -> None:
    delimiter, packing = _delimiter(ending), _packed(ending) or "none"
    _copy(con, select, path, f"csv, HEADER, DELIMITER '{delimiter}', COMPRESSION {packing}")


def _write_parquet(con: duckdb.DuckDBPyConnection, select: str, path: Path, _: str) -> None:
    _copy(con, select, path, "parquet")


def _copy(con: duckdb.DuckDBPyConnection, select: str, path: Path, options: str) -> None:
    con.execute(f"COPY ({select}) TO ? (USE_TMP_FILE false, FORMAT {options})", [str(path)])


def own_delimiter(path: Path) -> str:
    """Return the delimiter that the extension of a CSV or TSV file says."""
    return _delimiter(kind(path)[1])


def packed(path: Path) -> str | None:
    """Return how a CSV or TSV file is compressed by its extension: 'gzip', 'zstd' or None."""
    return _packed(kind(path)[1])


def _delimiter(ending: str) -> str:
    return "\t" if ending.startswith(".tsv") else ","


def _packed(ending: str) -> str | None:
    return PACKED["" if ending.count(".") == 1 else ending[ending.rindex(".") :]]


_OF_DUCKDB = {
    "csv": Format("csv", _read_csv, _write_csv),
    "parquet": Format("parquet", _read_parquet, _write_parquet),
}
# by the ending of a name; a file has the first that fits
FORMATS: dict[str, Format] = {ending: _OF_DUCKDB[name] for ending, name in KINDS.items()}
for _of_json in json_lines.ENDINGS:
    FORMATS[_of_json] = Format("json", json_lines.read_json_lines, json_lines.write)
FORMATS[".xlsx"] = Format("workbook", workbooks.read_workbook, workbook_writing.write)
for _only_read in (".xls", ".ods"):
    FORMATS[_only_read] = replace(FORMATS[".xlsx"], instead=".xlsx")
for _of_program in (*statistics_writing.ENDINGS, ".sas7bdat"):
    _write = statistics_writing.write
    FORMATS[_of_program] = Format("statistics", statistics.read_statistics, _write)
FORMATS[".sas7bdat"] = replace(FORMATS[".sas7bdat"], instead=".xpt")
