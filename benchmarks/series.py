"""Measure series of releases: information loss, waiting persons, times and size of the state.

Months of 15,000 persons, of whom 20 % leave before each later month and as many come, against
anonymize alone on the same months. Persons are those of Adult if the file is given, else generated:
python -m benchmarks.series [adult.parquet] [months]
"""

import sys
import time

import numpy as np
import pyarrow as pa

import anon_sql

NUMBERS = ["age", "education_num"]
TEXTS = ["workclass", "marital_status", "race", "sex", "native_country"]
QUASI = [*NUMBERS, *TEXTS]
KEY = "0123456789abcdef"
ROLES = {"quasi": QUASI, "sensitive": "occupation", "entity": "person"}
FIRST, CHANGED, K = 15_000, 3_000, 10


def load(con, file, months):
    """Make the table ``everybody``, with persons numbered from 0."""
    if file is not None:
        con.execute(
            f"CREATE TABLE everybody AS SELECT row_number() OVER (ORDER BY h) - 1 AS person, "
            f"* EXCLUDE h FROM (SELECT {', '.join(QUASI)}, occupation, hash(a) AS h FROM ? AS a "
            "WHERE workclass IS NOT NULL AND occupation IS NOT NULL AND native_country IS NOT NULL "
            "AND occupation <> 'Armed-Forces')".replace("FROM ?", f"FROM '{file}'")
        )
        return
    many = FIRST + CHANGED * (months - 1)
    draw = np.random.default_rng(1)
    age = np.clip(draw.normal(39, 13, many), 17, 90).astype(int)
    table = {
        "person": np.arange(many),
        "age": age,
        "education_num": np.clip(draw.normal(10, 2.5, many), 1, 16).astype(int),
        "occupation": [
            f"o{(v + a // 20) % 13}" for v, a in zip(draw.geometric(0.2, many), age, strict=True)
        ],
    }
    for name, distinct in zip(TEXTS, (7, 7, 5, 2, 40), strict=True):
        table[name] = [f"{name[:2]}{min(v, distinct)}" for v in draw.geometric(0.5, many)]
    con.register("generated", pa.table(table))
    con.execute("CREATE TABLE everybody AS FROM generated")


def each_month(months, persons):
    """Yield the persons of each month."""
    draw, here, new = np.random.default_rng(1), np.arange(FIRST), FIRST
    for _ in range(months):
        yield here
        gone = draw.choice(here, CHANGED, replace=False)
        come = np.arange(new, min(new + CHANGED, persons))
        here, new = np.union1d(np.setdiff1d(here, gone), come), new + CHANGED


def gcp(con, name):
    """Return the mean NCP of the rows of a release, by the ranges of everybody."""
    parts = [
        f"(anon_max({c})::DOUBLE - anon_min({c})::DOUBLE) "
        f"/ (SELECT max({c}) - min({c}) FROM everybody)"
        for c in NUMBERS
    ]
    parts += [
        f"(len(anon_values({c})) - 1) / (SELECT count(DISTINCT {c}) - 1 FROM everybody)"
        for c in TEXTS
    ]
    text = f"SELECT avg(({' + '.join(parts)}) / {len(parts)}) FROM {name}"
    return con.execute(text).fetchall()[0][0]


def seconds(con, statement, times=3):
    """Return the least of some times of a statement that can be repeated."""
    found = []
    for _ in range(times):
        began = time.perf_counter()
        con.execute(statement, ROLES)
        found.append(time.perf_counter() - began)
    return min(found)


def measure(file, months, l):  # noqa: E741
    """Print a line per month."""
    con = anon_sql.connect()
    load(con, file, months)
    ((persons,),) = con.execute("SELECT count(*) FROM everybody").fetchall()
    given = ", ".join(f"{name} := ${name}" for name in ROLES)
    alone = (
        f"CREATE OR REPLACE TABLE alone AS FROM anonymize('people', k := {K}, quasi := $quasi, "
        "sensitive := $sensitive, identifiers := $entity)"
    )
    for month, here in enumerate(each_month(months, persons)):
        con.register("here", pa.table({"person": here}))
        con.execute(
            "CREATE OR REPLACE TABLE people AS FROM everybody SEMI JOIN here USING (person)"
        )
        con.execute(
            "CREATE OR REPLACE TABLE before AS FROM series_next('people', NULL, "
            f"l := {l}, {given}, key := '{KEY}') LIMIT 0"
            if month == 0
            else "CREATE OR REPLACE TABLE before AS FROM after",
            ROLES if month == 0 else {},
        )
        state = (
            f"CREATE OR REPLACE TABLE after AS FROM series_next('people', 'before', l := {l}, "
            f"{given}, key := '{KEY}')"
        )
        made = (
            f"CREATE OR REPLACE TABLE file AS FROM anonymize('people', k := {K}, {given}, "
            f"series := 'after', key := '{KEY}')"
        )
        checked = (
            f"CREATE OR REPLACE TABLE checks AS FROM audit('people', 'file', {K}, {given}, "
            f"series := 'after', key := '{KEY}')"
        )
        plain = seconds(con, alone)
        both = seconds(con, state) + seconds(con, made)
        audit = seconds(con, checked)
        figures = con.execute(
            "SELECT waiting, former, largest_waiting_share FROM series_status('after') "
            "ORDER BY release DESC LIMIT 1"
        ).fetchall()[0]
        size = con.execute(
            "SELECT sum(8 + coalesce(strlen(person), 0) + coalesce(strlen(tuple), 0)) FROM after"
        ).fetchall()[0][0]
        bare = con.execute("SELECT count(*) FROM after WHERE cohort = 0").fetchall()[0][0]
        one, other = gcp(con, "file"), gcp(con, "alone")
        print(
            f"l = {l}, release {month + 1}: GCP {one:.4f} against {other:.4f}, ratio "
            f"{one / other:.2f}; waiting {figures[0] / len(here):.1%}, of a leaf at most "
            f"{figures[2]:.2f}, without label {bare}; former {figures[1]}; {both:.2f} s against "
            f"{plain:.2f} s, ratio {both / plain:.1f}; audit {audit:.2f} s; {size / len(here):.0f} bytes per person",
            flush=True,
        )


if __name__ == "__main__":
    given_file = sys.argv[1] if len(sys.argv) > 1 and not sys.argv[1].isdigit() else None
    count = int(sys.argv[-1]) if sys.argv[-1].isdigit() else 4
    for least in (2, 3):
        measure(given_file, count, least)
