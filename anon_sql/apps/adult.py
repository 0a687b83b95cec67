"""Load UCI Adult as it is distributed: two text files, checked by their SHA-256, one table."""

import hashlib
import io
import re
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb
import pyarrow as pa

from anon_sql.errors import AnonError

FUNCTION = "data adult"
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
QUASI = ["age", "workclass", "education_num", "marital_status", "occupation", "race", "sex"]
QUASI = [*QUASI, "native_country"]
SENSITIVE = ["income"]
KEEP = [name for name in [*COLUMNS, "split"] if name not in [*QUASI, *SENSITIVE]]


SUMMARY = """
    SELECT split, count(*) AS rows, count(*) - count(workclass) AS no_workclass,
        count(*) - count(occupation) AS no_occupation,
        count(*) - count(native_country) AS no_native_country
    FROM adult GROUP BY split ORDER BY split DESC
"""


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
        found = [(name, _download(name)) for name in names]
    else:
        path = Path(source)
        paths = (
            [path / name for name in FILES if (path / name).is_file()] if path.is_dir() else [path]
        )
        if not paths or not paths[0].is_file():
            wanted = "a directory with adult.data or adult.test, a file, or an http(s) address"
            raise AnonError(FUNCTION, f"the source must be {wanted}", f"'{source}'")
        found = [(str(path), path.read_bytes()) for path in paths]
    for name, content in found:
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
    found = hashlib.sha256(content).hexdigest()
    if found != SUMS[split]:
        raise AnonError(
            FUNCTION,
            f"{name} must have the sha256 of UCI's {split} file, {SUMS[split]}",
            found,
            "--no-checksum accepts the file as it is",
        )


def _parse(name: str, split: str, content: bytes) -> pa.Table:
    """Return the rows of one file, without empty lines and comments, which start with |."""
    rows: list[list[str | None]] = []
    for at, line in enumerate(content.decode("utf-8", errors="replace").splitlines(), 1):
        if not line.strip() or line.startswith("|"):
            continue
        fields = [field.strip() for field in line.split(",")]
        if len(fields) != len(COLUMNS):
            raise AnonError(
                FUNCTION, f"line {at} of {name} must have {len(COLUMNS)} fields", len(fields)
            )
        rows.append(
            [None if field == "?" else field for field in [*fields[:-1], fields[-1].rstrip(".")]]
        )
    if not rows:
        raise AnonError(FUNCTION, f"{name} must hold rows of Adult", "none")
    columns = {}
    for at, column in enumerate(COLUMNS):
        values = pa.array([row[at] for row in rows], pa.string())
        try:
            columns[column] = values.cast(pa.int32()) if column in NUMBERS else values
        except pa.ArrowInvalid:
            raise AnonError(
                FUNCTION, f"column {column} of {name} must hold whole numbers", "text"
            ) from None
    columns["split"] = pa.array([split] * len(rows), pa.string())
    return pa.table(columns)
