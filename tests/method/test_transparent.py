"""A transparent release: who knows the method, its parameters and all quasi-identifiers believes of
each person no more than the constraints allow.

The attack tries every assignment of the released values to the people. Those that give the same
release cannot be told apart, so the belief about a person is the share of them in which the person
has a value, an exact fraction. It shares no code with the release.
"""

import json
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pyarrow as pa
import pytest

import anon_sql
from anon_sql import AnonError, datasets, frames, kernels
from anon_sql.apps import manifest
from anon_sql.apps.cli.verify import of_release
from anon_sql.core import table as core
from anon_sql.core.running import Workers
from anon_sql.methods import transparent
from anon_sql.pipeline.compute import release
from anon_sql.pipeline.request import Relation, Source, checked
from anon_sql.privacy.constraint import Sensitive, constraint
from anon_sql.privacy.max_share import MaxShare
from tests.command import refused, run

KEY = "a secret of the owner"
TYPES = {"a": "INTEGER", "b": "INTEGER", "s": "INTEGER", "r": "INTEGER"}
METHODS = ["anonymize", "mondrian", "rayden", "oka", "top_down", "k_member", "dop"]
QUASI = ["age", "workclass", "education_num", "marital_status", "race", "sex", "native_country"]
POINTS = [(3, 40), (9, 72), (11, 5), (48, 51), (52, 90), (55, 8), (91, 33), (97, 60)]
TIES = [(3, 40), (3, 40), (11, 5), (48, 51), (48, 51), (55, 8)]


def seen(points, tuples, sensitive, call, method):
    """Return what is released of people: the labels of each row with its values, sorted."""
    quasi = dict(
        zip(
            "ab",
            (pa.array(column, pa.int32()) for column in zip(*points, strict=True)),
            strict=True,
        )
    )
    columns = dict(zip(sensitive, zip(*tuples, strict=True), strict=True))
    hashes = np.full(len(points), 7, np.uint64)
    for values in columns.values():
        whole = np.array([-1 if value is None else value for value in values], np.int64)
        hashes = kernels.hashing.mix(hashes, whole)
    keys = {
        name: pa.array([b"" if v is None else bytes([1, v]) for v in values], pa.binary())
        for name, values in columns.items()
    }
    types = {name: TYPES[name] for name in ("a", "b", *sensitive)}
    given = {"quasi": ["a", "b"], "sensitive": list(sensitive), "key": KEY, **call}
    made = release(Source(quasi, pa.array(hashes), keys), checked(method, Relation(types), given))
    shown = [own.printed.take(pa.array(own.label_of)).to_pylist() for own in made.labels.values()]
    return tuple(
        sorted(
            (
                (tuple(labels[c] for labels in shown), tuples[p])
                for p, c in zip(made.position, made.class_of, strict=True)
            ),
            key=repr,
        )
    )


def beliefs(points, tuples, call, method, sensitive="s"):
    """Yield for each release, person and column the belief in each value, a Counter of fractions.

    Every order of the tuples is a world, and all are equally likely.
    """
    alike = defaultdict(list)
    for world in sorted(set(permutations(tuples)), key=repr):
        try:
            alike[seen(points, world, sensitive, call, method)].append(world)
        except AnonError:  # nothing is released
            alike[None].append(world)
    for found, worlds in alike.items():
        for person in range(len(points) if found is not None else 0):
            for column in range(len(sensitive)):
                times = Counter(world[person][column] for world in worlds)
                yield {value: Fraction(n, len(worlds)) for value, n in times.items()}


def largest(*attacked):
    """Return the largest belief in a value."""
    return max(max(belief.values()) for belief in beliefs(*attacked))


def most_likely(alike):
    """Return the largest share of the worlds that look alike in which a person has one value."""
    return max(
        Fraction(max(Counter(values).values()), len(worlds))
        for worlds in alike
        for values in zip(*worlds, strict=True)
    )


def one(values):
    return [(value,) for value in values]


TABLES = {
    "even": ([0, 0, 1, 1], 2),
    "uneven": ([0, 0, 0, 1, 1, 2], 2),
    "three": ([0, 0, 1, 1, 2, 2], 3),
    "null": ([0, 0, 1, 2, None, None], 2),
}
ATTACKED = [
    *(("mondrian", table, 1) for table in ("uneven", "three", "null")),
    *(("mondrian", table, 16) for table in ("uneven", "null")),
    *((method, "even", 1) for method in METHODS),
]


@pytest.mark.parametrize(("method", "table", "block"), ATTACKED)
def test_no_value_is_likelier_than_one_in_l(monkeypatch, method, table, block):
    monkeypatch.setattr(transparent, "BLOCK_FACTOR", block)  # blocks of l rows, and one block
    values, least = TABLES[table]
    call = {"k": 2, "l": least, "transparent": True}
    assert largest(POINTS[: len(values)], one(values), call, method) <= Fraction(1, least)


@pytest.mark.parametrize("method", ["oka", "rayden"])
def test_without_it_some_values_are(method):
    call = {"k": 2, "max_share": 0.5}
    assert largest(POINTS, one([0, 0, 0, 0, 1, 1, 1, 2]), call, method) > Fraction(1, 2)


@pytest.mark.slow
@pytest.mark.parametrize("block", [1, 16])
@pytest.mark.parametrize("values", [[0, 0, 0, 0, 1, 1, 1, 2], [0, 0, 0, 0, 1, 1, 2, 3]])
def test_eight_people(monkeypatch, values, block):
    monkeypatch.setattr(transparent, "BLOCK_FACTOR", block)
    call = {"k": 2, "l": 2, "transparent": True}
    assert largest(POINTS, one(values), call, "mondrian") <= Fraction(1, 2)


def test_two_sensitive_columns():
    tuples = [(0, 0), (0, 1), (0, 1), (1, 1), (1, 2), (2, 0)]
    call = {"k": 2, "l": 2, "transparent": True}
    assert largest(POINTS[:6], tuples, call, "mondrian", "sr") <= Fraction(1, 2)


@pytest.mark.parametrize("t", [0.3, 0.5])
def test_beliefs_are_as_near_to_the_table_as_t_says(t):
    values = [0, 0, 0, 1, 1, 2]
    call = {"k": 2, "t": t, "transparent": True}
    shares = {value: Fraction(n, 6) for value, n in Counter(values).items()}
    for belief in beliefs(POINTS[:6], one(values), call, "mondrian"):
        known = [belief.get(value, 0) - share for value, share in sorted(shares.items())]
        away = sum(abs(sum(known[: at + 1])) for at in range(2)) / 2  # the ordered distance
        assert away <= t + 1e-9


def test_equal_rows(monkeypatch):
    """Both orders of each pair of equal rows are equally likely, as their keyed hashes are."""
    values, call = one([0, 0, 0, 1, 1, 2]), {"k": 2, "l": 2, "transparent": True}
    alike = defaultdict(list)
    for turned in (False, True):
        order = (lambda hashes, _: ~hashes) if turned else (lambda hashes, _: hashes)
        monkeypatch.setattr(core, "_keyed", order)
        for world in sorted(set(permutations(values))):
            alike[seen(TIES, world, "s", call, "mondrian")].append(world)
    assert most_likely(alike.values()) <= Fraction(1, 2)


def test_rows_equal_in_everything_stand_anywhere_among_equal_ones():
    """Side by side, they let an attacker believe 7/11 of a person, beside four equal rows."""
    seen_orders = Counter()
    for number in range(300):
        hashes = np.array([5, 5, 9], np.uint64)
        quasi = {"a": pa.array([1, 1, 1], pa.int32())}
        ties = b"a secret of the owner, no. %d" % number
        table = core.read_table(
            "test", {"a": "INTEGER"}, quasi, pa.array(hashes), Workers("test", 1), ties=ties
        )
        seen_orders[tuple(hashes[table.order].tolist())] += 1
    assert len(seen_orders) == 3
    assert min(seen_orders.values()) > 70


class Chosen:
    """Stands in for random numbers: the given rows come first."""

    def __init__(self, rows, first):
        self.rows, self.first = rows, first

    def permutation(self, _):
        return np.array(self.first + [r for r in range(self.rows) if r not in self.first])

    def integers(self, low, high, size, kind):
        return np.zeros(0, kind)


def test_rows_that_are_set_apart(monkeypatch):
    """Blocks of 2 leave 3 of 5 rows, a random choice of which all are tried."""
    monkeypatch.setattr(transparent, "BLOCK_FACTOR", 1)
    monkeypatch.setattr(transparent, "MAX_ATTEMPTS", 1)
    values, call = one([0, 0, 1, 1, 2]), {"k": 2, "l": 2, "transparent": True}
    alike = defaultdict(list)
    for first in {tuple(sorted(order[:3])) for order in permutations(range(5))}:
        monkeypatch.setattr(transparent, "_secret", lambda *_, f=list(first): Chosen(5, f))
        for world in sorted(set(permutations(values))):
            try:
                alike[seen(POINTS[:5], world, "s", call, "mondrian")].append(world)
            except AnonError as error:
                assert "divide the table" in str(error)  # noqa: PT017 - an attempt that fails
    assert len(alike) > 5
    assert most_likely(alike.values()) <= Fraction(1, 2)


def draws_of(chosen, rows):
    """Return the random numbers by which these rows, in ascending order, are drawn."""
    left, numbers = list(range(rows)), []
    for at, row in enumerate(chosen):
        place = left.index(row)
        left[at], left[place] = left[place], left[at]
        numbers.append(-(-(place - at) * 2**32 // (rows - at)) << 32)
    return np.array(numbers, np.uint64)


def test_an_odd_number_of_rows():
    """3 of 7 rows are split off at random, so that 4 can be halved; all choices are tried."""
    points = np.array(POINTS[:7], float) / 100
    worlds = sorted(set(permutations([0, 0, 0, 1, 1, 2, 2])))
    alike, split = defaultdict(list), 0
    for world in worlds:
        codes = [Sensitive("s", np.array(world, np.int32), 3, False)]
        rules = constraint(1, codes, None, [MaxShare(max_share=0.5)]).rules
        for chosen in combinations(range(7), 3):
            made = kernels.halving.divide(
                points, np.ones(2), rules, np.arange(7, dtype=np.int32), 7, 2, draws_of(chosen, 7)
            )
            groups = [tuple(np.flatnonzero(made == g)) for g in range(made.max() + 1)]
            split += chosen in groups
            alike[tuple(sorted((g, tuple(sorted(world[r] for r in g))) for g in groups))].append(
                world
            )
    assert split > 1000
    assert most_likely(alike.values()) <= Fraction(1, 2)


@pytest.fixture
def adult(con, monkeypatch):
    monkeypatch.setenv("ANON_KEY", KEY)
    datasets.adult(con, 600)
    con.execute("CREATE TABLE people AS SELECT rowid AS person, * EXCLUDE income FROM adult")
    con.execute("COMMENT ON COLUMN people.person IS 'anon:keep'")
    con.execute("COMMENT ON COLUMN people.occupation IS 'anon:sensitive'")
    for name in QUASI:
        con.execute(f"COMMENT ON COLUMN people.{name} IS 'anon:quasi'")
    return con


ASKED = "k := 5, l := 3, key := 'env:ANON_KEY', transparent := true"


@pytest.mark.parametrize("method", METHODS)
def test_every_row_is_released_and_the_constraints_hold(adult, method):
    adult.execute(f"CREATE TABLE released AS FROM {method}('people', {ASKED})")
    query = (
        "SELECT count(*), k_anonymity('people', 'released') >= 5, "
        "max_share('people', 'released') <= 1/3 FROM released"
    )
    assert adult.execute(query).fetchall() == [(600, True, True)]


def test_the_same_key_gives_the_same_release(adult):
    wanted = adult.execute(f"FROM anonymize('people', {ASKED}) ORDER BY ALL").fetchall()
    adult.execute("CREATE TABLE turned AS FROM people ORDER BY person DESC")
    adult.execute("SET threads = 1")
    roles = "keep := 'person', sensitive := 'occupation', quasi := '*'"
    turned = f"FROM anonymize('turned', {ASKED}, {roles}) ORDER BY ALL"
    assert adult.execute(turned).fetchall() == wanted
    frame = adult.execute("FROM people").to_arrow_table()
    made = frames.anonymize(
        frame, k=5, l=3, key=KEY, transparent=True, keep="person", sensitive="occupation", quasi="*"
    )
    assert sorted(made.to_pandas().itertuples(index=False, name=None)) == sorted(wanted)
    other = ASKED.replace("'env:ANON_KEY'", "'another secret key'")
    assert adult.execute(f"FROM anonymize('people', {other}) ORDER BY ALL").fetchall() != wanted


def test_strata_are_divided_by_themselves(adult):
    adult.execute(f"CREATE TABLE released AS FROM anonymize('people', {ASKED}, strata := 'sex')")
    assert adult.execute(
        "SELECT count(*) FROM released WHERE sex NOT IN ('Male', 'Female')"
    ).fetchone() == (0,)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("l := 2, transparent := true", "transparent needs a secret key"),
        (f"{ASKED}, entity := 'person', keep := NULL", "transparent must go without entity"),
        (f"{ASKED}, suppression_limit := 0.1", "transparent must go without suppression_limit"),
        (
            "l := 9, transparent := true, key := 'env:ANON_KEY'",
            "anonymize: l must be at most [0-9]+ in a transparent release, because one value of "
            "occupation has [0-9.]+% of the rows, got l := 9",
        ),
    ],
)
def test_what_it_refuses(adult, call, error):
    with pytest.raises(Exception, match=error):
        adult.execute(f"FROM anonymize('people', {call})").fetchall()


def test_parts_refuse_it(adult, tmp_path):
    with pytest.raises(AnonError, match="transparent must be left out of a release in parts"):
        anon_sql.release(
            adult,
            "people",
            into=str(tmp_path / "out"),
            k=5,
            l=3,
            key=KEY,
            transparent=True,
            part_rows=200,
        )


def test_the_command_line_takes_it(adult, tmp_path):
    adult.execute(f"COPY (SELECT * EXCLUDE person FROM people) TO '{tmp_path / 'people.csv'}'")
    call = ["release", tmp_path / "people.csv", tmp_path / "out.csv", "--k", 5, "--l", 3]
    call += ["--sensitive", "occupation", "--quasi", "*", "--transparent"]
    assert "needs a secret key" in refused(*call)
    result = run(*call, "--key", "env:ANON_KEY", "--manifest")
    assert result.exit_code == 0, result.output
    count = adult.execute(f"SELECT count(*) FROM '{tmp_path / 'out.csv'}'").fetchone()
    assert count == (600,)
    checked_ = run("verify", tmp_path / "out.csv")
    line = "transparent: no value of occupation has more than 1 in 3 rows of a class"
    assert f"holds    {line}" in checked_.output
    written = manifest.read_manifest("test", manifest.beside(tmp_path / "out.csv"))
    adult.execute(
        f"CREATE TABLE spoiled AS SELECT * REPLACE ('Sales' AS occupation) FROM '{tmp_path / 'out.csv'}'"
    )
    fails = [check.what for check in of_release(adult, written, "spoiled") if not check.holds]
    assert line in fails


@pytest.mark.parametrize("method", ["mondrian", "rayden"])
def test_attack_minimality_claims_nothing(adult, method):
    adult.execute("CREATE TABLE few AS FROM people LIMIT 400")
    roles = f"keep := 'person', sensitive := 'occupation', quasi := {QUASI}"
    adult.execute(f"CREATE TABLE released AS FROM {method}('few', {ASKED}, {roles})")
    query = (
        "SELECT claimed, certain FROM attack_minimality('few', 'released', "
        f"method := '{method}', runs := 20, {ASKED}, {roles})"
    )
    assert adult.execute(query).fetchall() == [(0, 0)]


@pytest.mark.slow
@pytest.mark.parametrize("given", [["--transparent", "--key", "env:ANON_KEY"], []])
def test_a_report_says_whether_knowing_the_method_helps(adult, tmp_path, given):
    raw, out, said = tmp_path / "few.csv", tmp_path / "out.csv", tmp_path / "report.json"
    adult.execute(f"COPY (SELECT * EXCLUDE person FROM people LIMIT 200) TO '{raw}'")
    call = ["--method", "mondrian", "--k", 5, "--l", 2, "--sensitive", "occupation"]
    call += ["--quasi", "*", "--manifest"]
    assert run("release", raw, out, *call, *given).exit_code == 0
    result = run("report", raw, out, "-o", said, "--format", "json")
    assert result.exit_code == 0, result.output
    verdict = json.loads(said.read_text())["verdict"]
    assert any("the release is transparent" in each for each in verdict["not_covered"]) == bool(
        given
    )
    assert any("the release is not transparent" in each for each in verdict["not_covered"]) != bool(
        given
    )


def sizes(least, rows):
    """Return the sizes that are tried: each a twentieth larger than the one before."""
    while least < rows:
        yield least
        least = max(least + 1, -(-least * 105 // 100))


@pytest.mark.parametrize(
    ("method", "seed"), [("anonymize", 2), ("mondrian", 1), ("rayden", 1), ("rayden", 2)]
)
def test_by_size_the_release_is_the_first_plain_one_that_satisfies_l(adult, method, seed):
    adult.execute(
        "CREATE TABLE others AS SELECT a.* EXCLUDE (occupation, n), b.occupation FROM "
        "(SELECT *, row_number() OVER () AS n FROM people LIMIT 200) AS a JOIN (SELECT occupation, "
        f"row_number() OVER (ORDER BY hash(person, {seed})) AS n FROM people LIMIT 200) AS b USING (n)"
    )
    roles = f"keep := 'person', sensitive := 'occupation', quasi := {QUASI}, key := 'env:ANON_KEY'"
    call = f"FROM {method}('others', k := 4, l := 3, transparent := true, {roles}"
    made = adult.execute(f"{call}, transparent_by := 'size') ORDER BY ALL").fetchall()
    for size in sizes(4, 200):
        adult.execute(
            f"CREATE OR REPLACE TABLE plain AS FROM {method}('others', k := {size}, {roles})"
        )
        worst = adult.execute(
            f"SELECT l_diversity('others', 'plain', quasi := {QUASI}, sensitive := 'occupation')"
        ).fetchone()[0]
        if worst >= 3:
            break
    assert made == adult.execute("FROM plain ORDER BY ALL").fetchall()


def test_by_size_takes_an_entity(adult):
    call = (
        "FROM mondrian('people', k := 5, l := 2, entity := 'person', transparent := true, "
        "transparent_by := 'size', key := 'env:ANON_KEY', keep := NULL)"
    )
    assert len(adult.execute(call).fetchall()) == 600
