"""``anon-sql data``: write generated tables, and load UCI Adult from its own files."""

import hashlib
import io
import re
import shlex
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import duckdb
import pyarrow as pa
import typer

import anon_sql
from anon_sql import datasets
from anon_sql.apps import files
from anon_sql.apps.cli import console
from anon_sql.apps.cli.console import stoppable
from anon_sql.apps.cli.options import Overwrite
from anon_sql.datasets import QUASI, SENSITIVE
from anon_sql.errors import AnonError
from anon_sql.hosts.files import atomic_file

Into = Annotated[Path, typer.Option(help="File to write: .csv, .parquet, .xlsx, .sav, .duckdb ...")]
Rows = Annotated[int, typer.Option(min=0, help="Number of rows.")]
Seed = Annotated[int, typer.Option(help="Seed for random choices.")]
DATABASES = (".duckdb", ".db")

app = typer.Typer(help="Write generated tables to try, or load UCI Adult.", no_args_is_help=True)


@app.command("adult")
def write_adult(
    into: Into, rows: Rows = 30_000, seed: Seed = 42, overwrite: Overwrite = False
) -> None:
    """Write generated records that resemble UCI Adult. No row is a real person.

    Example: anon-sql data adult --into adult.parquet
    """
    _write("adult", into, overwrite, lambda con: datasets.adult(con, rows, seed=seed))


@app.command("people")
def write_people(into: Into, overwrite: Overwrite = False) -> None:
    """Write sixty generated people: age, city and illness.

    Example: anon-sql data people --into people.csv
    """
    _write("people", into, overwrite, datasets.people)


@app.command("stays")
def write_stays(
    into: Into, rows: Rows = 2_000, seed: Seed = 17, overwrite: Overwrite = False
) -> None:
    """Write generated hospital stays with names and dates of birth, as raw files have them.

    Example: anon-sql data stays --into stays.csv
    """
    _write("stays", into, overwrite, lambda con: datasets.stays(con, rows, seed=seed))


def _write(
    name: str,
    into: Path,
    overwrite: bool,
    make: Callable[[duckdb.DuckDBPyConnection], duckdb.DuckDBPyRelation],
) -> None:
    """Make a table in a database, or in memory and write it to a file."""
    function, in_database = f"data {name}", into.suffix.lower() in DATABASES

    def run(con: duckdb.DuckDBPyConnection) -> None:
        rows = len(make(con))
        if not in_database:
            with atomic_file(into) as temporary:
                files.write(con, f"FROM {name}", temporary, into)
        console.say(f"{into}: {rows:,} generated rows{', table ' + name if in_database else ''}")

    with console.one_sentence():
        if not in_database:
            _require_new(function, into, overwrite)
        with anon_sql.connect(str(into) if in_database else ":memory:") as con:
            stoppable(con, lambda: run(con))


def _require_new(function: str, into: Path, overwrite: bool) -> None:
    """Raise AnonError for a file that cannot be written, or must not be replaced."""
    writable = [ending for ending, form in files.FORMATS.items() if not form.instead]
    endings = [*writable, *DATABASES]
    if not into.name.lower().endswith(tuple(endings)):
        raise AnonError(function, f"--into must end in {', '.join(endings)}", f"'{into.name}'")
    if not into.parent.is_dir():
        raise AnonError(function, "--into must be in a directory that exists", f"'{into}'")
    if into.exists() and not overwrite:
        hint = "--overwrite replaces it"
        raise AnonError(function, "--into must be a new file", f"'{into}', which exists", hint)


FUNCTION = "data uci-adult"
SUMS = {
    "train": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
}
FILES = {"adult.data": "train", "adult.test": "test"}
COLUMNS = [
    *("age", "workclass", "fnlwgt", "education", "education_num", "marital_status"),
    *("occupation", "relationship", "race", "sex", "capital_gain", "capital_loss"),
    *("hours_per_week", "native_country", "income"),
]
NUMBERS = {"age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hours_per_week"}
KEEP = [name for name in [*COLUMNS, "split"] if name not in [*QUASI, *SENSITIVE]]


SUMMARY = """
    SELECT split, count(*) AS rows, count(*) - count(workclass) AS no_workclass,
        count(*) - count(occupation) AS no_occupation,
        count(*) - count(native_country) AS no_native_country
    FROM adult GROUP BY split ORDER BY split DESC
"""


@app.command("uci-adult")
def load_adult(
    sources: Annotated[
        list[str], typer.Argument(metavar="PATH_OR_URL...", help="Where UCI's files are.")
    ],
    database: Annotated[str, typer.Option(help="Database file to write.")] = "adult.duckdb",
    no_checksum: Annotated[
        bool, typer.Option("--no-checksum", help="Accept files that differ from UCI's.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the table adult.")
    ] = False,
) -> None:
    """Load UCI Adult into the table adult and declare its roles.

    The source is adult.data, adult.test or both, a folder that holds them,
    UCI's adult.zip, or the http(s) address of any of these.

    Example: anon-sql data uci-adult ~/Downloads/adult.zip --database adult.duckdb
    """
    with console.one_sentence():
        rows = read_adult(sources, checksum=not no_checksum)
        with anon_sql.connect(database) as con:
            create_adult(con, rows, overwrite)
            anon_sql.declare(con, "adult", quasi=QUASI, sensitive=SENSITIVE, keep=KEEP)
            console.show(con.sql(SUMMARY))
    console.say("Kept columns are released as they are, and education tells education_num. Next:")
    query = "SELECT * EXCLUDE (education, fnlwgt, relationship) FROM rayden('adult', k := 10)"
    console.say(f'  anon-sql query "{query}" --database {shlex.quote(database)}')


def read_adult(sources: Sequence[str], checksum: bool = True) -> pa.Table:
    """Return the rows of Adult from directories, files, archives or http(s) addresses, train first.

    Columns as UCI names them with underscores, ``?`` as NULL, and ``split``: train or test.
    Raises AnonError for a file that is missing, not Adult or not the published bytes.
    """
    parts: dict[str, pa.Table] = {}
    for source in sources:
        for name, content in _files(source):
            split = "test" if re.search(rb"50K\.\s*\Z", content) else "train"
            if checksum:
                _verify(name, split, content)
            if split in parts:
                raise AnonError(FUNCTION, "each of the two files is needed once", f"{split} twice")
            parts[split] = _parse(name, split, content)
    return pa.concat_tables([parts[split] for split in SUMS if split in parts])


def create_adult(con: duckdb.DuckDBPyConnection, rows: pa.Table, overwrite: bool = False) -> None:
    """Create table ``adult``. Raises AnonError where it exists, unless told to overwrite."""
    there = con.execute(
        "SELECT 1 FROM information_schema.tables WHERE table_catalog = current_database() "
        "AND table_schema = current_schema() AND lower(table_name) = 'adult'"
    ).fetchall()
    if there and not overwrite:
        hint = "--overwrite replaces it"
        raise AnonError(FUNCTION, "the database must have no table adult", "one", hint)
    con.register("__anon_adult", rows)
    try:
        con.execute("CREATE OR REPLACE TABLE adult AS FROM __anon_adult")
    finally:
        con.unregister("__anon_adult")


def _files(source: str) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of the files that a source means."""
    if re.match(r"https?://", source, re.IGNORECASE):
        is_file = re.search(r"\.(data|test|csv|txt|zip)$", source, re.IGNORECASE)
        names = [source] if is_file else [f"{source.rstrip('/')}/{name}" for name in FILES]
        contents = [(name, _download(name)) for name in names]
    else:
        path = Path(source)
        paths = (
            [path / name for name in FILES if (path / name).is_file()] if path.is_dir() else [path]
        )
        if not paths or not paths[0].is_file():
            wanted = "a directory with adult.data or adult.test, a file, or an http(s) address"
            raise AnonError(FUNCTION, f"the source must be {wanted}", f"'{source}'")
        contents = [(str(path), path.read_bytes()) for path in paths]
    for name, content in contents:
        if not zipfile.is_zipfile(io.BytesIO(content)):
            yield name, content
            continue
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [m for m in archive.namelist() if m.rsplit("/", 1)[-1] in FILES]
            if not members:
                raise AnonError(FUNCTION, "the archive must hold adult.data or adult.test", name)
            for member in members:
                yield f"{name}/{member}", archive.read(member)


def _download(address: str) -> bytes:
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:
            content: bytes = answer.read()
            return content
    except (urllib.error.URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise AnonError(FUNCTION, f"{address} must be readable", str(reason)) from None


def _verify(name: str, split: str, content: bytes) -> None:
    checksum = hashlib.sha256(content).hexdigest()
    if checksum != SUMS[split]:
        raise AnonError(
            FUNCTION,
            f"{name} must have the sha256 of UCI's {split} file, {SUMS[split]}",
            checksum,
            "--no-checksum accepts the file as it is",
        )


def _parse(name: str, split: str, content: bytes) -> pa.Table:
    """Return the rows of one file, without empty lines and comments, which start with |."""
    rows: list[list[str | None]] = []
    for number, line in enumerate(content.decode("utf-8", errors="replace").splitlines(), 1):
        if not line.strip() or line.startswith("|"):
            continue
        fields = [field.strip() for field in line.split(",")]
        if len(fields) != len(COLUMNS):
            raise AnonError(
                FUNCTION, f"line {number} of {name} must have {len(COLUMNS)} fields", len(fields)
            )
        rows.append(
            [None if field == "?" else field for field in [*fields[:-1], fields[-1].rstrip(".")]]
        )
    if not rows:
        raise AnonError(FUNCTION, f"{name} must hold rows of Adult")
    columns = {}
    for number, column in enumerate(COLUMNS):
        values = pa.array([row[number] for row in rows], pa.string())
        try:
            columns[column] = values.cast(pa.int32()) if column in NUMBERS else values
        except pa.ArrowInvalid:
            raise AnonError(
                FUNCTION, f"column {column} of {name} must hold whole numbers", "text"
            ) from None
    columns["split"] = pa.array([split] * len(rows), pa.string())
    return pa.table(columns)
