"""attack_minimality: against releases made one by one, by hand, and what it refuses."""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from anon_sql import frames, kernels
from anon_sql.attacks import minimality, worlds
from anon_sql.attacks.minimality import picked, upper_tails, wilson
from anon_sql.core import stopping
from anon_sql.core import table as core
from anon_sql.methods.method import release_methods
from anon_sql.pipeline.partition import legal_partition
from tests.inserting import insert
from tests.sentence import fails

ROLES = "quasi := ['a', 'b'], sensitive := 's'"
OLD = Path(__file__).parent / "old_order"
METHODS = sorted(name for name, known in release_methods().items() if not known.perturbative)
TREES = """
CREATE OR REPLACE TABLE tree AS
SELECT attribute, i::VARCHAR AS value, level, if(level = 1, (i // 25 * 25)::VARCHAR || '+', '*') AS label
FROM range(100) made(i), (VALUES ('a'), ('b')) named(attribute), (VALUES (1), (2)) high(level)
"""


def attack(con, given=ROLES, raw="raw", released="released"):
    found = con.execute(f"FROM attack_minimality('{raw}', '{released}', {given})")
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def made(con, rows, *, released=None, given=ROLES, kind="INTEGER"):
    """Make the table raw, and its release unless none is asked for."""
    con.execute(f"CREATE OR REPLACE TABLE raw (a INTEGER, b INTEGER, s {kind})")
    insert(con, "raw", rows)
    if released is not None:
        con.execute(f"CREATE OR REPLACE TABLE released AS FROM {released}('raw', {given})")


def labels_of(method, people, values, given):
    """The label that a release shows of each person; the person is kept beside it."""
    a, b = (pa.array(column, pa.int32()) for column in zip(*people, strict=True))
    world = pa.table({"a": a, "b": b, "s": pa.array(values, pa.int32()), "who": range(len(values))})
    release = getattr(frames, method)
    made = release(world, **given, quasi=["a", "b"], sensitive="s", keep="who").sort_by("who")
    return list(zip(made["a"].to_pylist(), made["b"].to_pylist(), strict=True))


def told(method, people, values, given, surer):
    """What the attacker claims, in fractions: every world is released and compared."""
    seen = labels_of(method, people, values, given)
    classes = defaultdict(list)
    for person, label in enumerate(seen):
        classes[label].append(person)
    ways = [
        [
            dict(zip(members, dealt, strict=True))
            for dealt in set(permutations(values[who] for who in members))
        ]
        for members in classes.values()
    ]
    worlds = [{who: s for part in chosen for who, s in part.items()} for chosen in product(*ways)]
    same = [
        world
        for world in worlds
        if labels_of(method, people, [world[who] for who in range(len(people))], given) == seen
    ]
    found = Counter()
    for members in classes.values():
        for who in members if len(same) < len(worlds) else ():
            best = None
            for value, count in sorted(Counter(values[one] for one in members).items()):
                share = Fraction(count, len(members))
                likely = Fraction(sum(world[who] == value for world in same), len(same))
                if likely <= share or (likely - likely * share) < surer * (share - likely * share):
                    continue
                if best is None or likely - share > best[1]:
                    best = value, likely - share, share, likely
            if best is not None:
                found["claimed"] += 1
                found["correct"] += values[who] == best[0]
                found["certain"] += best[3] == 1
                found["baseline"] += best[2]
    return found, len(worlds)


@pytest.mark.parametrize(
    ("method", "own", "surer"),
    [
        ("mondrian", "", 2),
        ("anonymize", "fast", 2),
        ("rayden", "", 1),
        ("top_down", "", 2),
    ],
)
@pytest.mark.filterwarnings("ignore:.* unique on the kept columns:anon_sql.AnonWarning")
def test_all_worlds_against_releases_made_one_by_one(con, method, own, surer):
    effort = f", effort := '{own}'" if own else ""
    call = {"k": 2, "l": 2} | ({"effort": own} if own else {})
    options = f", options := {{'{method}': {{'effort': '{own}'}}}}" if own else ""
    claimed = 0
    for number in range(2):
        rng = np.random.default_rng(number)
        a, b = rng.permutation(50)[:8].tolist(), rng.permutation(50)[:8].tolist()
        values = rng.integers(0, 2 + number % 2, 8).tolist()
        given = f"k := 2, l := 2{effort}"
        made(con, zip(a, b, values, strict=True), released=method, given=f"{given}, {ROLES}")
        wanted, many = told(method, list(zip(a, b, strict=True)), values, call, surer)
        (row,) = attack(
            con, f"method := '{method}', k := 2, l := 2{options}, surer := {surer}, {ROLES}"
        )
        assert (row["persons"], row["runs"], row["every_world"]) == (8, many, True)
        assert {name: row[name] for name in ("claimed", "correct", "certain")} == {
            name: wanted[name] for name in ("claimed", "correct", "certain")
        }
        if row["claimed"]:
            expected = wanted["baseline"] / wanted["claimed"]
            assert row["baseline_share"] == pytest.approx(float(expected))
            assert row["correct_share"] == row["correct"] / row["claimed"]
            assert row["low"] <= row["correct_share"] <= row["high"]
        claimed += row["claimed"]
    assert claimed > 0


def test_a_class_that_was_not_cut_tells_which_half_has_one_value(con):
    """Seven people are cut into four and three unless a part has one value. In four worlds the
    three have a value alone, in one the four: of the three it is likely with 4/5, of the four with
    3/5."""
    made(con, [(i, 0, int(i > 3)) for i in range(1, 8)])
    given = "k := 3, l := 2, quasi := 'a', sensitive := 's', exclude := 'b'"
    con.execute(f"CREATE TABLE released AS FROM mondrian('raw', {given})")
    assert con.execute("SELECT DISTINCT a FROM released").fetchall() == [("[1, 7]",)]
    (row,) = attack(con, f"method := 'mondrian', {given}")
    assert (row["claimed"], row["correct"], row["certain"], row["runs"]) == (7, 6, 0, 35)
    assert row["baseline_share"] == pytest.approx((3 * 4 / 7 + 4 * 3 / 7) / 7)
    assert attack(con, f"method := 'mondrian', {given}, surer := 2.1")[0]["claimed"] == 3
    assert attack(con, f"method := 'mondrian', {given}, surer := 3.1")[0]["claimed"] == 0


@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_told_without_a_constraint_on_values(con, method, monkeypatch):
    monkeypatch.setattr(minimality, "PROBE_RUNS", 4)
    rng = np.random.default_rng(1)
    rows = [(*rng.integers(0, 30, 2).tolist(), int(rng.integers(0, 2))) for _ in range(60)]
    con.execute(TREES)
    needs = {"canon", "oka"}  # numbers alone, no hierarchy
    more = "" if method in needs else ", hierarchy := 'tree'"
    given = f"k := 4, {ROLES}{more}"
    made(con, rows, released=method, given=given)
    (row,) = attack(con, f"method := '{method}', {given}")
    assert (row["claimed"], row["certain"], row["runs"]) == (0, 0, 4)
    assert row["correct_share"] is row["baseline_share"] is row["control_claimed"] is None


def ages(con, rows=400):
    """Make a table whose second value is rare and likelier where a is large."""
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 100, rows), rng.integers(0, 40, rows)
    s = (rng.random(rows) < a / 300).astype(int)
    made(con, zip(a.tolist(), b.tolist(), s.tolist(), strict=True))


@pytest.mark.parametrize(("method", "runs"), [("rayden", 100), ("mondrian", 250)])
def test_drawn_worlds_tell_more_than_the_class(con, method, runs):
    ages(con)
    given = f"k := 3, l := 2, {ROLES}"
    con.execute(f"CREATE TABLE released AS FROM {method}('raw', {given})")
    given += f", runs := {runs}"
    (row,) = attack(con, f"method := '{method}', {given}")
    assert not row["every_world"]
    assert row["claimed"] > 10
    assert row["low"] > row["baseline_share"]
    fewer = attack(con, f"method := '{method}', {given}, surer := 8")[0]
    assert 0 < fewer["claimed"] < row["claimed"]


def test_the_control_is_without_the_seed_and_the_key(con, monkeypatch):
    ages(con)
    monkeypatch.setenv("ANON_KEY", "a secret of the owner")
    given = f"k := 3, l := 2, {ROLES}, key := 'env:ANON_KEY'"
    con.execute(f"CREATE TABLE released AS FROM rayden('raw', {given})")
    (row,) = attack(con, f"method := 'rayden', {given}, runs := 100")
    assert row["claimed"] > 10
    assert row["control_claimed"] < row["claimed"] / 4
    without = (
        f"FROM attack_minimality('raw', 'released', method := 'rayden', {ROLES}, k := 3, l := 2)"
    )
    assert fails(con, without).startswith("attack_minimality: the call must make the classes")


@pytest.mark.parametrize("method", ["rayden", "mondrian"])
def test_a_transparent_release_tells_nothing_to_who_lacks_the_key(con, monkeypatch, method):
    """Its classes come out in some worlds, each with a key of its own, so it could be told."""
    rng = np.random.default_rng(1)
    values = rng.permutation(np.repeat([0, 1, 2], 4)).tolist()
    made(con, [(int(a), int(a) * 7 % 12, s) for a, s in zip(range(12), values, strict=True)])
    monkeypatch.setenv("ANON_KEY", "a secret of the owner")
    agreed, agrees = [], worlds.Attacker.agrees

    def counted(self, world, number=0):
        found = agrees(self, world, number)
        agreed.append(found.mean())
        return found

    monkeypatch.setattr(worlds.Attacker, "agrees", counted)
    given = f"k := 2, l := 2, {ROLES}, key := 'env:ANON_KEY', transparent := true"
    con.execute(f"CREATE TABLE released AS FROM {method}('raw', {given})")
    (row,) = attack(con, f"method := '{method}', {given}, runs := 400")
    assert (row["claimed"], row["every_world"], row["control_claimed"]) == (0, False, None)
    assert len(agreed) == 400
    assert 0.05 < np.mean(agreed) < 1


def test_of_values_dealt_at_random_no_more_is_right_than_by_the_class(con, monkeypatch):
    """The claims are judged by other values of the same classes, thirty times."""
    ages(con)
    given = f"k := 3, l := 2, {ROLES}"
    con.execute(f"CREATE TABLE released AS FROM rayden('raw', {given})")
    judged = []

    class Column(minimality._AttackedColumn):
        def claims(self, tried, surer):
            found = super().claims(tried, surer)
            for deal in tried.dealt[:30]:
                self.truth = self.codes[deal]
                dealt = super().claims(tried, surer)
                if dealt.claimed:
                    judged.append((dealt.correct - dealt.by_chance) / dealt.claimed)
            return found

    monkeypatch.setattr(minimality, "_AttackedColumn", Column)
    (row,) = attack(con, f"method := 'rayden', {given}, runs := 200")
    # the control has claims of its own, or none
    assert abs(np.mean(judged[:30])) < 0.05 < row["correct_share"] - row["baseline_share"]


def by_all_columns(columns, hashes, ties=None):
    """The order of rows before it was made of quasi-identifiers alone."""
    found = np.array(hashes, np.uint64)
    for column in columns:
        kernels.hashing.mix_in(found, column.keys, column.present)
    return kernels.orders.by_hash(found)


@pytest.mark.parametrize("method", ["rayden", "oka", "canon"])
def test_a_release_made_in_the_order_of_all_columns(con, method, monkeypatch):
    """With k alone it makes values certain, and this version does not make it."""
    for name in ("raw", "released"):
        con.execute(
            f"CREATE TABLE {name} AS FROM read_csv('{OLD}/{method}_{name}.csv', all_varchar := true)"
        )
    con.execute("ALTER TABLE raw ALTER a TYPE INTEGER; ALTER TABLE raw ALTER b TYPE INTEGER")
    given = f"method := '{method}', k := 3, {ROLES}"
    said = fails(con, f"FROM attack_minimality('raw', 'released', {given})")
    assert said.startswith("attack_minimality: the call must make the classes of the release; ")
    monkeypatch.setattr(core, "canonical_order", by_all_columns)
    (row,) = attack(con, given)
    assert row["every_world"]
    assert row["certain"] >= 9
    assert row["correct_share"] > 0.9 > row["baseline_share"] + 0.3


def test_it_depends_on_neither_threads_nor_the_order_of_rows(con):
    ages(con, 200)
    given = f"k := 3, l := 2, {ROLES}"
    con.execute(f"CREATE TABLE released AS FROM rayden('raw', {given})")
    call = f"method := 'rayden', {given}, runs := 40"
    found = attack(con, call)
    con.execute("CREATE TABLE other AS FROM raw ORDER BY s, b DESC, a")
    assert attack(con, call, raw="other") == found
    con.execute("SET threads = 1")
    assert attack(con, call) == found
    con.execute("SET threads = 2")
    assert attack(con, call) == found
    raw, released = (con.sql(f"FROM {name}").to_arrow_table() for name in ("raw", "released"))
    of_frames = frames.attack_minimality(
        raw, released, method="rayden", k=3, l=2, quasi=["a", "b"], sensitive="s", runs=40
    )
    assert of_frames.to_pylist() == found


def test_every_option_of_a_release(con, monkeypatch):
    """Each release is made again, so the attack is not refused."""
    monkeypatch.setenv("ANON_KEY", "a secret of the owner")
    con.execute(TREES)
    con.execute(
        "CREATE TABLE raw AS SELECT (i * 7) % 60 AS a, if(i % 9 = 0, NULL, (i * 11) % 50) AS b, "
        "if(i % 7 = 0, NULL, 'v' || i % 3) AS s, i % 4 AS u, i // 2 AS who, i % 2 AS g "
        "FROM range(60) made(i)"
    )
    roles = "quasi := ['a', 'b'], sensitive := ['s', 'u']"
    for method, given, options in [
        ("mondrian", "l := 2, keep := ['who', 'g']", ""),
        ("anonymize", "t := 0.5, entity := 'who', keep := 'g'", ""),
        ("anonymize", "l := 2, format := 'typed', exclude := ['who', 'g']", ""),
        ("anonymize", "max_share := 0.8, format := 'mean', exclude := ['who', 'g']", ""),
        ("rayden", "l := 2, l_kind := 'entropy', seed := 7, exclude := ['who', 'g']", ""),
        ("mondrian", "l := 2, hierarchy := 'tree', key := 'env:ANON_KEY', keep := ['*']", ""),
        ("full_domain", "l := 2, hierarchy := 'tree', keep := ['*']", ""),
        ("mondrian", "beta := 3, bin_width := MAP {'a': 5}, identifiers := ['who', 'g']", ""),
        (
            "anonymize",
            "l := 2, suppression_limit := 0.2, suppressed := 'drop', keep := ['*']",
            "options := {'anonymize': {'suppression_limit': 0.2}}, ",
        ),
    ]:
        con.execute(
            f"CREATE OR REPLACE TABLE released AS FROM {method}('raw', k := 3, {roles}, {given})"
        )
        call = given.replace("suppression_limit := 0.2, ", "")
        rows = attack(con, f"method := '{method}', {options}k := 3, {roles}, {call}, runs := 4")
        ((many,),) = con.execute("SELECT count(*) FROM released").fetchall()
        assert [(row["attribute"], row["persons"]) for row in rows] == [("s", many), ("u", many)]
    strata = "k := 3, l := 2, quasi := ['a', 'g'], strata := 'g', sensitive := 's', keep := ['*']"
    con.execute(f"CREATE OR REPLACE TABLE released AS FROM oka('raw', {strata})")
    assert attack(con, f"method := 'oka', {strata}, runs := 4")[0]["persons"] == 60


def test_null_is_not_claimed(con, monkeypatch):
    """An attack that counts claims of NULL has more of them, some of which are right."""
    a, values = [26, 35, 39, 6, 38, 5, 12, 7], [1, 0, 1, None, None, 0, None, None]
    given = f"k := 2, l := 2, {ROLES}"
    made(con, zip(a, range(8), values, strict=True), released="mondrian", given=given)
    call = f"method := 'mondrian', {given}, surer := 1"
    (row,) = attack(con, call)
    assert row["every_world"]
    assert (row["claimed"], row["correct"]) == (2, 0)

    class Column(minimality._AttackedColumn):
        def __init__(self, *given):
            super().__init__(*given)
            self.null = -1

    monkeypatch.setattr(minimality, "_AttackedColumn", Column)
    (row,) = attack(con, call)
    assert (row["claimed"], row["correct"]) == (6, 3)


def test_an_empty_table(con):
    made(con, [])
    con.execute("CREATE TABLE released (a VARCHAR, b VARCHAR, s INTEGER)")
    (row,) = attack(con, f"l := 2, {ROLES}")
    assert (row["persons"], row["claimed"], row["correct_share"]) == (0, 0, None)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (f"method := 'mondrian', k := 7, l := 2, {ROLES}", "the call must make the classes of the"),
        (f"method := 'rayden', k := 3, l := 2, {ROLES}", "the call must make the classes of the"),
        (f"method := 'mondriam', {ROLES}", "method must name release methods, got 'mondriam'"),
        (f"method := 'sdka', {ROLES}", "the release must have the rows of the raw table, got sdka"),
        (f"runs := 0, {ROLES}", "runs must be a whole number of at least 1"),
        (f"surer := 0.5, {ROLES}", "surer must be a number of at least 1"),
        ("quasi := ['a', 'b']", "at least one sensitive column is needed"),
        (f"options := {{'mondrian': {{'effort': 1}}}}, {ROLES}", "options must name parameters of"),
        (f"l := 5, {ROLES}", "l must be at most"),
    ],
)
def test_what_it_refuses(con, given, said):
    rng = np.random.default_rng(5)
    rows = [(*rng.integers(0, 30, 2).tolist(), i % 3) for i in range(40)]
    made(con, rows, released="mondrian", given=f"k := 3, l := 2, {ROLES}")
    assert fails(con, f"FROM attack_minimality('raw', 'released', {given})").startswith(
        f"attack_minimality: {said}"
    )


def test_a_release_with_an_exchanged_value_is_not_the_one_that_is_made(con):
    made(con, [(i, 0, i % 2) for i in range(20)], released="mondrian", given=f"k := 3, {ROLES}")
    call = f"FROM attack_minimality('raw', 'released', method := 'mondrian', k := 3, {ROLES})"
    con.execute(call)
    con.execute("UPDATE released SET s = 1 - s WHERE rowid = 0")
    assert fails(con, call).startswith("attack_minimality: the call must make the classes")


def test_a_star_means_the_columns_that_it_means_in_the_release(con):
    con.execute(
        "CREATE TABLE raw AS SELECT i AS id, hash(i) % 40 AS age, i % 5 AS city, "
        "hash(i, 1) % 4 AS ill, i % 3 AS other FROM range(150) r(i)"
    )
    call = "k := 5, l := 2, sensitive := 'ill', identifiers := 'id', keep := 'other'"
    con.execute(f"CREATE TABLE released AS FROM rayden('raw', quasi := '*', {call})")
    attack = "FROM attack_minimality('raw', 'released', method := 'rayden', runs := 40"
    found = con.execute(f"{attack}, quasi := '*', {call})").fetchall()
    assert found == con.execute(f"{attack}, quasi := ['age', 'city'], {call})").fetchall()
    call = "k := 5, l := 2, quasi := ['age', 'city'], exclude := 'id'"
    con.execute(f"CREATE OR REPLACE TABLE released AS FROM rayden('raw', sensitive := '*', {call})")
    found = con.execute(f"{attack}, sensitive := '*', {call})").fetchall()
    assert [row[0] for row in found] == ["ill", "other"]
    named = con.execute(f"{attack}, sensitive := ['ill', 'other'], {call})").fetchall()
    assert found == named


def test_hostile_names(con):
    name, other = "a \"' ; drop", 's)(":=$1'
    quoted, sensitive = ('"' + each.replace('"', '""') + '"' for each in (name, other))
    con.execute(
        f"CREATE TABLE raw AS SELECT (i * 7) % 30 AS {quoted}, i % 3 AS {sensitive} FROM range(30) t(i)"
    )
    con.execute(
        "CREATE TABLE released AS FROM mondrian('raw', k := 3, l := 2, quasi := $q, sensitive := $s)",
        {"q": [name], "s": other},
    )
    con.execute(
        "FROM attack_minimality('raw', 'released', method := 'mondrian', k := 3, l := 2, "
        "quasi := $q, sensitive := $s, runs := 10)",
        {"q": [name], "s": other},
    )
    assert con.fetchall()[0][:2] == (other, 30)


def test_a_call_that_is_to_stop_stops(con, monkeypatch):
    ages(con, 100)
    given = f"k := 3, l := 2, {ROLES}"
    con.execute(f"CREATE TABLE released AS FROM mondrian('raw', {given})")
    runs = []

    def partition(table, call, method):
        runs.append(1)
        if len(runs) == 5:
            stopping.request_all()
        return legal_partition(table, call, method)

    monkeypatch.setattr(worlds, "legal_partition", partition)
    call = f"FROM attack_minimality('raw', 'released', method := 'mondrian', {given})"
    assert fails(con, call).startswith("attack_minimality: stopped on request")
    assert len(runs) < 10


def test_the_tail_of_a_binomial_distribution():
    asked = [(3, 5, 0.3), (1, 4, 0.5), (5, 5, 0.2), (0, 3, 0.1)]
    times, trials, share = (np.array(each) for each in zip(*asked, strict=True))
    found = upper_tails(times, trials, share)
    assert found == pytest.approx([0.16308, 0.9375, 0.00032, 1.0])
    assert len(upper_tails(times[:0], trials[:0], share[:0])) == 0


def test_which_of_many_tests_are_significant():
    """Benjamini and Hochberg 1995, section 3: four of fifteen."""
    chances = [
        *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459),
        *(0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000),
    ]
    assert picked(np.array(chances), 15).tolist() == [True] * 4 + [False] * 11
    assert not picked(np.array([0.04, 0.05]), 100).any()
    assert picked(np.zeros(0), 0).tolist() == []


def test_the_interval_of_a_share():
    assert wilson(0, 0) == (None, None)
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(0, 10)[0] == 0.0
