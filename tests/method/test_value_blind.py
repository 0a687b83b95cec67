"""At plain k, classes depend on the quasi-identifiers alone: not on other columns, nor on the order
of rows or of columns.

Who knows the method, its seed and all quasi-identifiers then learns nothing of a sensitive value
from the choice of the classes. The tests give every other column new values, shuffle the rows, move
the columns, and compare labels row by row. Rows that are equal in all quasi-identifiers may be
exchanged.
"""

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import anon_sql
from anon_sql import AnonWarning, datasets
from anon_sql.hosts.duckdb.sql_files import sql_files
from anon_sql.hosts.linked import rows_of_table, schema_of
from anon_sql.hosts.parts import release as parts
from anon_sql.hosts.parts.spilling import RegionRows
from anon_sql.linked import release
from anon_sql.linked.options import LinkedCall, Linking
from anon_sql.pipeline.request import Relation, checked
from anon_sql.regions import sql
from tests.inserting import insert
from tests.oracles import adds_rows

METHODS = [f.name for f in sql_files() if f.folder == "release" and not adds_rows(f.name)]
QUASI = ["age", "height", "city", "sex"]
NUMBERS = QUASI[:2]  # CANON takes no other columns
OTHERS = ["ill", "income", "rid"]
TYPES = {
    "age": "INTEGER",
    "height": "DOUBLE",
    "city": "VARCHAR",
    "sex": "BOOLEAN",
    "ill": "VARCHAR",
    "income": "DECIMAL(9, 2)",
    "rid": "INTEGER",
}
TREES = """
    CREATE OR REPLACE TABLE trees AS
    FROM numeric_hierarchy('t', 'age', widths := [10, 30])
    UNION ALL FROM numeric_hierarchy('t', 'height', widths := [5, 20])
    UNION ALL SELECT 'city', c, unnest([0, 1, 2]), unnest([c, ascii(c) % 2 || ' x', '*'])
    FROM (SELECT DISTINCT city AS c FROM t WHERE city IS NOT NULL)
    UNION ALL SELECT 'sex', s, unnest([0, 1]), unnest([s, '*'])
    FROM (SELECT unnest(['true', 'false']) AS s)
"""
CALLS = {
    "plain": "k := 3",
    "seed": "k := 4, seed := 7, suppressed := 'drop'",
    "weights": "k := 3, weights := MAP {'age': 2, 'city': 0.5}",
    "strata": "k := 3, strata := ['sex']",
    "hierarchy": "k := 5, hierarchy := 'trees'",
    "mean": "k := 5, format := 'mean'",
}
LACKS = {  # the parameter that a method needs, and those that it lacks
    "datafly": ("hierarchy", ("weights",)),
    "full_domain": ("", ("weights",)),
    "canon": ("", ("strata", "hierarchy", "weights")),
}
OWN = [
    ("anonymize", "k := 3, effort := 'fast'"),
    ("anonymize", "k := 3, effort := 'best', rounds := 2"),
    ("anonymize", "k := 4, suppression_limit := 0.1"),
    ("rayden", "k := 3, vantage := 'farthest', cut := 'median'"),
    ("rayden", "k := 3, unrecovered := 'suppress', alpha := 1"),
]


def made(rows, wide, seed=0):
    """Return the quasi-identifiers of rows; wide: whether nearly all of them differ."""
    pick = random.Random(seed)
    ages, heights = (60, 4000) if wide else (6, 3)
    for _ in range(rows):
        yield (
            pick.choice([None, *range(20, 20 + ages)]),
            150 + pick.randrange(heights) * (0.01 if wide else 10),
            pick.choice(["Accra", "Bonn", "Cape Town", "Delhi"]),
            pick.random() < 0.5,
        )


def others(rows, seed):
    """Return the other columns of rows: an illness, an income, and a number that no two share."""
    pick = random.Random(seed)
    numbers = pick.sample(range(10 * rows), rows)
    return [
        (pick.choice(["flu", "gout", "asthma", None]), pick.randrange(10**6) / 100, number)
        for number in numbers
    ]


def labels(con, call, quasi, seed):
    """Return how often rows with the same quasi-identifiers have the same labels."""
    pick = random.Random(seed)
    rest = others(len(quasi), seed)
    names = pick.sample([*QUASI, *OTHERS], 7) if seed else [*QUASI, *OTHERS]
    order = [[*QUASI, *OTHERS].index(name) for name in names]
    rows = [[(*q, *o)[at] for at in order] for q, o in zip(quasi, rest, strict=True)]
    if seed:
        pick.shuffle(rows)
    con.execute(f"CREATE OR REPLACE TABLE t ({', '.join(f'{n} {TYPES[n]}' for n in names)})")
    insert(con, "t", rows)
    method, options = call
    if "trees" in options:
        con.execute(TREES)
    used = NUMBERS if method == "canon" else QUASI
    left_out = [name for name in QUASI if name not in used]
    found = con.execute(
        f"SELECT rid, {', '.join(used)} FROM {method}('t', {options}, quasi := {used!r}, "
        f"exclude := {left_out!r}, sensitive := ['ill'], keep := ['income', 'rid'])"
    ).fetchall()
    of_row = {rid: q[: len(used)] for q, (_, _, rid) in zip(quasi, rest, strict=True)}
    return Counter((of_row[rid], str(shown)) for rid, *shown in found)


def calls():
    """Yield each method with each option it has, on one of two tables; plain calls on both."""
    for number, method in enumerate(METHODS):
        needed, missing = LACKS.get(method, ("", ()))
        for turn, (name, options) in enumerate(CALLS.items(), number):
            if any(parameter in options for parameter in missing):
                continue
            more = f", {needed} := 'trees'" if needed and needed not in options else ""
            for wide in [True, False] if name == "plain" else [turn % 2 == 0]:
                named = f"{method}-{name}-{'different' if wide else 'alike'}"
                yield pytest.param((method, options + more), wide, id=named)


@pytest.mark.parametrize(("call", "wide"), list(calls()))
def test_classes_do_not_depend_on_other_columns(con, call, wide):
    check(con, call, wide)


@pytest.mark.parametrize(("call", "wide"), [(call, n % 2 == 0) for n, call in enumerate(OWN)])
def test_own_parameters_do_not_make_them_depend(con, call, wide):
    check(con, call, wide)


def check(con, call, wide):
    quasi = list(made(120, wide))
    first = labels(con, call, quasi, seed=0)
    assert [labels(con, call, quasi, seed) == first for seed in (1, 2)] == [True] * 2


def in_parts(con, method, quasi, seed):
    """Return the same of a release in parts."""
    rest = others(len(quasi), seed)
    rows = [(*q, *o) for q, o in zip(quasi, rest, strict=True)]
    if seed:
        random.Random(seed).shuffle(rows)
    names = [*QUASI, *OTHERS]
    con.execute(f"CREATE OR REPLACE TABLE t ({', '.join(f'{n} {TYPES[n]}' for n in names)})")
    insert(con, "t", rows)
    call = {"method": method, "k": 4, "part_rows": 100, "quasi": QUASI, "sensitive": "ill"}
    with pytest.warns(AnonWarning, match="unique on the kept columns"):
        found = anon_sql.release(con, "t", into="parts", keep=["income", "rid"], **call)
    assert found.parts > 3
    of_row = {rid: q for q, (_, _, rid) in zip(quasi, rest, strict=True)}
    made = con.execute(f"SELECT rid, {', '.join(QUASI)} FROM parts").fetchall()
    con.execute("DROP TABLE parts")
    return Counter((of_row[rid], str(shown)) for rid, *shown in made)


@pytest.mark.parametrize("method", ["rayden", "anonymize"])
def test_nor_in_parts(con, method, monkeypatch):
    monkeypatch.setattr(sql, "one_in", lambda rows: 4)
    quasi = list(made(600, wide=True))
    first = in_parts(con, method, quasi, seed=0)
    assert in_parts(con, method, quasi, seed=1) == first
    assert in_parts(con, method, quasi, seed=2) == first


HEAVY = (41, 171.0, "Bonn", True)  # most rows are equal, and no row of the sample is one of them
MANY = [*made(700, wide=True), *[HEAVY] * 500]


def by_all_columns(self, rows, parts):
    """Return the part of each row by a hash of all of its columns."""
    names = [*self.request.quasi, *self.request.kept]
    return (self._hashes(rows, names) % np.uint64(parts)).astype(np.int64)


@pytest.mark.parametrize("method", ["rayden", "mondrian"])
def test_nor_in_parts_of_one_leaf(con, method, monkeypatch):
    """A leaf that is too large for a region is divided, although no column can cut it."""
    monkeypatch.setattr(sql, "one_in", lambda rows: 4)
    budget = parts.budget
    small = {"wanted": 100, "most": 200}
    monkeypatch.setattr(parts, "budget", lambda *given: replace(budget(*given), **small))
    first = in_parts(con, method, MANY, seed=0)
    assert in_parts(con, method, MANY, seed=1) == first
    monkeypatch.setattr(RegionRows, "_parts", by_all_columns)  # the control
    assert in_parts(con, method, MANY, seed=0) != in_parts(con, method, MANY, seed=1)


def read_by_spark(con, statement, seed):
    """Return the rows of a statement that Spark runs too; statement: makes it of a dialect."""
    rows = [(*q, *o) for q, o in zip(MANY, others(len(MANY), seed), strict=True)]
    random.Random(seed).shuffle(rows)
    names = [*QUASI, *OTHERS]
    con.execute(f"CREATE OR REPLACE TABLE t ({', '.join(f'{n} {TYPES[n]}' for n in names)})")
    insert(con, "t", rows)
    return con.sql(statement("duckdb"))


def of_spark():
    given = {"k": 4, "quasi": QUASI, "sensitive": "ill", "keep": ["income", "rid"]}
    return checked("rayden", Relation(TYPES), given)


@pytest.mark.parametrize("many", [1, 4])
def test_nor_does_the_sample_of_spark(con, many):
    def statement(dialect):
        return sql.sample_select(of_spark(), dialect, "t", many)

    assert not [name for name in OTHERS if name in statement("spark")]
    first, second = (read_by_spark(con, statement, seed).fetchall() for seed in (1, 2))
    assert sorted(first, key=str) == sorted(second, key=str)
    assert len(first) > 100


@pytest.mark.parametrize(("how", "same"), [("dealt", True), ("by all columns", False)])
def test_nor_do_the_parts_of_spark(con, how, same):
    def statement(dialect):
        if how == "dealt":
            return sql.dealt_select(of_spark(), dialect, "t", "number")
        number = sql.spreading_hash([*QUASI, *OTHERS], 43, dialect).sql(dialect)
        return f"SELECT *, {number} AS number FROM t AS anon_rows"

    def parts_of(seed):
        found = (
            read_by_spark(con, statement, seed)
            .project(f"{', '.join(QUASI)}, number % 7")
            .fetchall()
        )
        return Counter(found)

    first = parts_of(1)
    assert (parts_of(2) == first) == same
    sizes = Counter(part for *_, part in first.elements())
    assert len(sizes) == 7
    assert min(sizes.values()) > 120


def test_nor_of_linked_tables(con):
    def classes(seed):
        datasets.hospital(con, 300)
        for table, column in (("diagnosis", "code"), ("visit", "days")):
            values = [value for (value,) in con.execute(f"SELECT {column} FROM {table}").fetchall()]
            if seed:
                random.Random(seed).shuffle(values)
            con.execute(
                f"CREATE OR REPLACE TEMP TABLE new (place INTEGER, v {'INTEGER' if column == 'days' else 'VARCHAR'})"
            )
            insert(con, "new", list(enumerate(values)))
            con.execute(f"UPDATE {table} SET {column} = v FROM new WHERE {table}.rowid = new.place")
        schema = schema_of(con, "release_linked", "person", roles={})
        given = {name: rows_of_table(con, node) for name, node in schema.nodes.items()}
        visits = given["visit"].values.select(["visited", "ward"]).to_pylist()
        plan = release.plan(LinkedCall("release_linked", 5, Linking()), schema, given)
        owners = plan.tied["visit"].parent.tolist()
        shown = zip(owners, map(str, visits), plan.groups["visit"].tolist(), strict=True)
        return plan.groups["person"].tolist(), Counter(shown)

    first = classes(0)
    assert len(set(first[0])) > 10
    assert classes(1) == first
    assert classes(2) == first
    for table in reversed(datasets.HOSPITAL):
        con.execute(f"DROP TABLE {table}")
