"""``anon-sql demo`` and its data: a synthetic table that resembles UCI Adult, and Adult itself.

Make a synthetic table that resembles UCI Adult, for demonstrations and benchmarks. Nobody's record
is in it. Each value is drawn from shares that depend on one or two columns drawn before; the counts
below summarise the 30,162 complete rows of Adult's training file (Becker and Kohavi 1996, an
extract of the 1994 US census, doi:10.24432/C5XW20, CC BY 4.0).
"""

import hashlib
import io
import re
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import duckdb
import numpy as np
import pyarrow as pa
import typer

import anon_sql
from anon_sql.apps import files, manifest
from anon_sql.apps.cli import console
from anon_sql.apps.cli.console import stoppable
from anon_sql.apps.cli.options import measured
from anon_sql.core.names import quote
from anon_sql.errors import AnonError
from anon_sql.hosts.files import temporary_folder

TABLE = "adult_like"
MADE = "Synthetic rows made by anon_sql from summary figures of UCI Adult; no real records."


class Shares:
    """Counts of each value in each group: one line of counts per group, in a fixed order."""

    def __init__(self, values: str, lines: str):
        self.values = values.split()
        counts = np.array([line.split(":")[1].split() for line in lines.splitlines()], np.float64)
        shares = counts.cumsum(axis=1) / counts.sum(axis=1, keepdims=True)
        self.steps = (shares + np.arange(len(counts))[:, None]).ravel()

    def draw(self, rng: np.random.Generator, group: Any) -> Any:
        """Return a position in ``values`` for each row; group: int64[rows]."""
        at = self.steps.searchsorted(group + rng.random(len(group)), side="right")
        return np.minimum(at - group * len(self.values), len(self.values) - 1)

    def text(self, positions: Any) -> Any:
        """Return the values at positions as an Arrow array of text."""
        codes = pa.array(positions.astype(np.int8))
        return pa.DictionaryArray.from_arrays(codes, pa.array(self.values)).dictionary_decode()


# A line is a group; its position is the number that make_adult_like computes for a row.
INCOME = Shares("<=50K >50K", "all: 22654 7508")
SEX = Shares("Female Male", "all: 9782 20380")
AGE = Shares(
    " ".join(map(str, range(17, 91))),
    """Female: 150 217 295 289 277 301 339 281 297 269 270 273 255 253 263 233 235 238 225 268 219 \
223 247 248 217 219 216 196 213 217 208 160 165 150 160 127 129 98 124 99 85 98 86 70 68 78 \
55 57 45 38 39 32 23 18 21 15 16 13 9 11 7 3 3 5 6 1 0 4 1 1 0 1 0 10
Male: 178 230 299 340 344 373 485 471 502 476 519 535 519 560 588 556 602 598 603 584 609 \
568 539 517 552 522 527 508 493 494 475 363 390 425 411 328 319 296 262 244 252 246 246 206 \
191 135 131 116 91 72 72 58 57 46 33 25 33 25 25 18 13 11 12 11 7 6 5 4 2 0 0 2 0 25""",
)
RACE = Shares(
    "White Black Asian-Pac-Islander Amer-Indian-Eskimo Other",
    """Female:  7895 1399 294 107  87
Male:   18038 1418 601 179 144""",
)
COUNTRY = Shares(
    """United-States Mexico Philippines Germany Puerto-Rico Canada El-Salvador India Cuba England \
Jamaica South China Italy Dominican-Republic Vietnam Guatemala Japan Columbia Poland Haiti \
Iran Taiwan Portugal Nicaragua Peru Greece Ecuador France Ireland Hong Cambodia \
Trinadad&Tobago Laos Thailand Yugoslavia Outlying-US(Guam-USVI-etc) Hungary Honduras \
Scotland Holand-Netherlands""",
    """White: 24218 559 8 118 78 105 95 8 87 78 5 1 2 68 36 2 59 18 49 55 0 34 2 33 27 29 28 18 26 \
23 2 0 0 0 2 16 8 13 11 11 1
Black: 2629 4 1 6 9 0 1 2 3 7 74 0 0 0 12 0 0 3 0 0 41 0 0 0 2 0 0 0 1 0 0 0 15 0 0 0 6 0 1 \
0 0
Asian-Pac-Islander: 273 1 178 2 1 1 0 85 0 1 0 68 66 0 1 62 0 37 0 1 1 6 40 1 0 0 1 0 0 1 16 \
18 2 17 15 0 0 0 0 0 0
Amer-Indian-Eskimo: 271 8 1 1 1 0 0 0 0 0 0 2 0 0 0 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 1 0 0 0 0 \
0 0 0 0 0 0
Other: 113 38 0 1 20 1 4 5 2 0 1 0 0 0 18 0 4 1 6 0 0 2 0 0 4 1 0 9 0 0 0 0 1 0 0 0 0 0 0 0 \
0""",
)
MARITAL = Shares(
    """Married-civ-spouse Never-married Divorced Separated Widowed Married-spouse-absent \
Married-AF-spouse""",
    """Female 17-19:    8  638   6   5   0  3 2
Female 20-24:   84 1299  49  35   2 16 2
Female 25-29:  208  896 166  58   6 30 0
Female 30-34:  232  535 312 100  13 26 4
Female 35-44:  489  587 888 188  70 52 4
Female 45-54:  302  244 733 139 166 43 0
Female 55-64:  135   78 308  41 243 15 0
Female 65+:     22   35  67   8 186  4 0
Male 17-19:     12  693   1   0   0  1 0
Male 20-24:    332 1621  27  21   0 12 0
Male 25-29:   1117 1249 112  48   2 17 6
Male 30-34:   1810  756 243  63   2 29 1
Male 35-44:   3947  725 648 147  13 48 1
Male 45-54:   3179  236 447  52  29 50 1
Male 55-64:   1670   95 180  28  39 17 0
Male 65+:      518   39  27   6  56  7 0""",
)
EDUCATION = Shares(
    " ".join(map(str, range(1, 17))),
    """17-19:            1  0   2  12  30 145 335 107  365  334   3   1    1    1   0   0
20-24:            4  3   2  24  29  61  91  48 1073 1312 123 111  451   19   0   1
25-29:            0  2   7  23  36  83  95  34 1273  802 189 151  853  137  46  14
30+:             21 65 113 437 296 498 494 168 6972 4149 983 740 3705 1462 494 358
Central America: 19 81 164  61  64  33  33  20  157   81   9   5   34    8   2   2""",
)
OCCUPATION = Shares(
    """Prof-specialty Craft-repair Exec-managerial Adm-clerical Sales Other-service \
Machine-op-inspct Transport-moving Handlers-cleaners Farming-fishing Tech-support \
Protective-serv Priv-house-serv Armed-Forces""",
    """Female 1-8:     21   32   28  109 187 428 170  10  38  17   9   6 65 0
Female 9:       98  100  265  960 416 711 269  51  89  21  58  22 46 0
Female 10-12:  335   67  400 1147 457 532  88  27  33  24 193  34 20 0
Female 13:     571   14  325  264 162  74  13   2   4   3  72  14  4 0
Female 14-16:  466    3  125   32  26  13   3   0   0   0   9   0  0 0
Male 1-8:       34  631   76   65 156 387 315 331 344 239  11  27  4 1
Male 9:        131 1803  534  390 636 542 742 765 514 380  99 193  1 4
Male 10-12:    394 1147  763  473 785 420 314 320 279 216 276 246  1 2
Male 13:       890  206 1008  234 631  96  46  53  44  74 151  86  2 1
Male 14-16:   1098   27  468   47 128   9   6  13   5  15  34  16  0 1""",
)
WORKCLASS = Shares(
    "Private Self-emp-not-inc Local-gov State-gov Self-emp-inc Federal-gov Without-pay",
    """Prof-specialty:    2254 365 692 403 157 167 0
Craft-repair:      3146 523 143  55  99  63 1
Exec-managerial:   2647 383 212 186 385 179 0
Adm-clerical:      2793  49 281 251  28 316 3
Sales:             2895 376   7  11 281  14 0
Other-service:     2665 173 189 123  27  34 1
Machine-op-inspct: 1882  35  11  13  10  14 1
Transport-moving:  1247 118 115  41  26  24 1
Handlers-cleaners: 1255  15  46   9   2  22 1
Farming-fishing:    450 430  29  15  51   8 6
Tech-support:       723  26  38  56   3  66 0
Protective-serv:    186   6 304 116   5  27 0
Priv-house-serv:    143   0   0   0   0   0 0
Armed-Forces:         0   0   0   0   0   9 0""",
)

# Share of incomes above 50K by step of education for (others, married), and a factor for age.
ABOVE_50K = np.array([[0.018, 0.122], [0.03, 0.319], [0.046, 0.449], [0.145, 0.682], [0.333, 0.81]])
AGE_FACTOR = np.array([0.02, 0.18, 0.58, 0.88, 1.1, 1.25, 1.11, 0.83])
BANDS = np.array([20, 25, 30, 35, 45, 55, 65])
STEPS = np.array([9, 10, 13, 14])
SCHOOLED_LESS = ("Mexico", "Guatemala", "El-Salvador")


def make_adult_like(
    con: duckdb.DuckDBPyConnection, table: str = TABLE, rows: int = 30_000, seed: int = 42
) -> None:
    """Create ``table`` with ``rows`` synthetic rows: eight quasi-identifiers and income.

    The same seed gives the same rows in the same order. Raises AnonError for rows below 0.
    """
    if rows < 0:
        raise AnonError("make_adult_like", "rows must be 0 or more", rows)
    rng = np.random.default_rng(seed)
    sex = SEX.draw(rng, np.zeros(rows, np.int64))
    age = AGE.draw(rng, sex) + 17
    band = BANDS.searchsorted(age, side="right")
    race = RACE.draw(rng, sex)
    country = COUNTRY.draw(rng, race)
    marital = MARITAL.draw(rng, sex * 8 + band)
    from_there = np.isin(country, [COUNTRY.values.index(name) for name in SCHOOLED_LESS])
    education = EDUCATION.draw(rng, np.where(from_there, 4, np.minimum(band, 3))) + 1
    step = STEPS.searchsorted(education, side="right")
    occupation = OCCUPATION.draw(rng, sex * 5 + step)
    workclass = WORKCLASS.draw(rng, occupation)
    married = (marital == MARITAL.values.index("Married-civ-spouse")).astype(np.int64)
    above = rng.random(rows) < ABOVE_50K[step, married] * AGE_FACTOR[band]
    columns = {
        "age": pa.array(age.astype(np.int32)),
        "workclass": WORKCLASS.text(workclass),
        "education_num": pa.array(education.astype(np.int32)),
        "marital_status": MARITAL.text(marital),
        "occupation": OCCUPATION.text(occupation),
        "race": RACE.text(race),
        "sex": SEX.text(sex),
        "native_country": COUNTRY.text(country),
        "income": INCOME.text(above),
    }
    con.register("__anon_adult_like", pa.table(columns))
    try:
        con.execute(f"CREATE TABLE {quote(table)} AS FROM __anon_adult_like")
        mark(con, table)
    finally:
        con.unregister("__anon_adult_like")


def mark(con: duckdb.DuckDBPyConnection, table: str) -> None:
    """Mark a table as synthetic in its comment."""
    con.execute(f"COMMENT ON TABLE {quote(table)} IS '{MADE}'")


def drop_made(con: duckdb.DuckDBPyConnection, tables: Sequence[str]) -> None:
    """Drop the tables of an earlier demonstration. Raises AnonError for one without the mark."""
    found = con.execute(
        "SELECT table_name, comment FROM duckdb_tables() WHERE database_name = current_database() "
        "AND schema_name = current_schema() AND list_contains(?, lower(table_name))",
        [list(tables)],
    ).fetchall()
    for name, comment in found:
        if comment != MADE:
            raise AnonError("demo", "the database must have no table of this name", f"'{name}'")
    for name, _ in found:
        con.execute(f"DROP TABLE {quote(name)}")


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


RELEASED = f"{TABLE}_release"
Database = Annotated[str, typer.Option(help="Database file; made where it does not exist.")]
K = Annotated[int, typer.Option("--k", help="Smallest size of an equivalence class, in rows.")]


def run_demo(k: K = 10, database: Database = ":memory:") -> None:
    """Suggest roles for a synthetic table, release it, audit the release and publish it.

    Example: anon-sql demo --k 25 --database demo.duckdb
    """

    def show(con: duckdb.DuckDBPyConnection) -> None:
        drop_made(con, [RELEASED, TABLE])
        make_adult_like(con, TABLE)
        console.say(f"{TABLE}: 30,000 synthetic rows, drawn from published summary figures of")
        console.say("the 1994 US census extract Adult. No row is a real person. Five of them:")
        console.show(con.sql(f"FROM {TABLE} LIMIT 5"))
        _suggest(con)
        _release(con, k)
        _audit(con, k)
        _publish(con, k)

    with console.one_sentence(), anon_sql.connect(database) as con:
        stoppable(con, partial(show, con))
    console.say("Next, on a Parquet or CSV file of yours:")
    console.say("  anon-sql roles your.csv")
    console.say("  anon-sql release your.csv safe.csv --quasi age,zip --sensitive disease")
    console.say("Read on: docs/k-anonymity.md, docs/roles.md, docs/reference.md")


def _suggest(con: duckdb.DuckDBPyConnection) -> None:
    """Show suggested roles, and declare those of the demonstration."""
    suggested = f"SELECT column_name, role, reason FROM suggest_roles('{TABLE}')"
    console.say(f"{suggested};")
    console.show(con.sql(suggested))
    console.say("Suggestions are never applied by themselves. Declared are:")
    anon_sql.declare(con, TABLE, quasi=QUASI, sensitive=SENSITIVE)
    console.say(f"  quasi-identifiers: {', '.join(QUASI)}")
    console.say(f"  sensitive: {', '.join(SENSITIVE)}")
    console.say()


def _release(con: duckdb.DuckDBPyConnection, k: int) -> None:
    """Release the table, and show some rows and what they cost."""
    con.execute(f"CREATE TABLE {RELEASED} AS FROM anonymize('{TABLE}', k := ?)", [k])
    mark(con, RELEASED)
    console.say(f"CREATE TABLE {RELEASED} AS FROM anonymize('{TABLE}', k := {k});")
    console.say("The order of its rows says nothing. One row in 6,000:")
    console.show(con.sql(f"FROM {RELEASED} WHERE rowid % 6000 = 0"))
    console.say(f"FROM utility('{TABLE}', '{RELEASED}', k := {k});")
    utility = f"FROM utility('{TABLE}', '{RELEASED}', k := ?)"
    console.show_measures(measured(con, utility, [k]))


def _audit(con: duckdb.DuckDBPyConnection, k: int) -> None:
    """Check the release against its table, as it would be checked if it were edited."""
    console.say(f"FROM audit('{TABLE}', '{RELEASED}', k := {k});")
    console.show(
        con.sql(
            "SELECT property, required, found, passed "
            f"FROM audit('{TABLE}', '{RELEASED}', k := $k) WHERE passed IS NOT NULL",
            params={"k": k},
        )
    )


def _publish(con: duckdb.DuckDBPyConnection, k: int) -> None:
    """Write the release and its manifest to a new folder."""
    folder = tempfile.mkdtemp(prefix="anon_sql_demo_", dir=temporary_folder("demo"))
    target = Path(folder) / f"{RELEASED}.csv"
    files.write(con, f"FROM {RELEASED}", target, target)
    roles = dict.fromkeys(manifest.ROLES)
    parameters = {"k": k, "seed": 42}
    made = manifest.make(con, (TABLE, RELEASED), "anonymize", parameters, roles, None)
    manifest.write(made, target, manifest.beside(target))
    console.say("Published, with a manifest that anon-sql verify checks:")
    console.say(f"  {target}")
