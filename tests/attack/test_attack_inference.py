"""attack_inference: by hand, against a count in plain Python, and what it refuses."""

import datetime
from collections import Counter, defaultdict
from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drawing import examples
from tests.inserting import insert
from tests.sentence import fails

WAYS = ("certain", "inferred", "lifted", "near")


def percentile(values, share):
    ordered = sorted(values)
    return next(v for at, v in enumerate(ordered, 1) if at >= share * len(ordered) - 1e-9)


def plain(raw, released, sure=0.8, lift=5.0, lift_share=0.3, within=0.05, *, numbers):
    """Rows by way, from pairs of class and value."""
    table = Counter(value for _, value in raw if value is not None)
    total = sum(table.values())
    first = table.most_common(2)
    common = first[0][0] if len(first) == 1 or (first and first[0][1] > first[1][1]) else None
    classes = defaultdict(list)
    for label, value in released:
        classes[label].append(value)
    found = dict.fromkeys(WAYS, 0)
    width = 0
    if numbers and total:
        known = [value for _, value in raw if value is not None]
        width = percentile(known, 0.95) - percentile(known, 0.05)
    for values in classes.values():
        known = Counter(value for value in values if value is not None)
        if len(known) < 2:
            found["certain"] += len(values)
            continue
        inferred = lifted = False
        for value, count in known.items():
            q, p = count / sum(known.values()), table[value] / total
            enough = q >= sure
            if value == common:
                enough = enough and 1 - q <= (1 - p) / 100 + 1e-12
            inferred |= enough
            lifted |= q >= lift_share and q >= lift * p
        found["inferred"] += len(values) * inferred
        found["lifted"] += len(values) * lifted
        found["near"] += len(values) * (numbers and max(known) - min(known) <= within * width)
    even = exp(-sum(n / total * log(n / total) for n in table.values())) if total else None
    return found, even


def ask(attacked, numbers, **more):
    (row,) = attacked("attack_inference", quasi=["a"], sensitive="'s'", **more)
    if not numbers:
        assert (row["near"], row["near_share"]) == (None, None)
    counts = {way: row[way] or 0 for way in WAYS}
    for way in WAYS:
        if row[way] is not None and row["rows"]:
            assert row[f"{way}_share"] == row[way] / row["rows"]
    return counts, row["even_values"]


@pytest.mark.parametrize("kind", ["VARCHAR", "INTEGER", "DOUBLE", "DECIMAL(9,2)", "DATE"])
def test_against_a_count_in_plain_python(con, attacked, kind):
    con.execute(f"CREATE TABLE raw (a INTEGER, s {kind}); CREATE TABLE label (a VARCHAR, s {kind})")
    made = {
        "VARCHAR": st.sampled_from("abc"),
        "DATE": st.integers(0, 300).map(
            lambda n: datetime.date(2020, 1, 1) + datetime.timedelta(n)
        ),
    }.get(kind, st.sampled_from([*range(8), 100, 101, 900]))
    rows = st.tuples(
        st.sampled_from([0, 0, 0, 1, 1, 2]),
        st.none() | made | st.just("a" if kind == "VARCHAR" else None),
    )

    @examples(20)
    @given(
        st.lists(rows, min_size=1, max_size=40),
        st.sampled_from([{}, {"sure": 0.5}, {"lift": 1.5, "lift_share": 0.1}, {"within": 0.3}]),
    )
    def equal(pairs, options):
        con.execute("DELETE FROM raw; DELETE FROM label")
        insert(con, "raw", pairs)
        con.execute("INSERT INTO label SELECT a::VARCHAR, s FROM raw")
        counted = [(a, s.toordinal() if isinstance(s, datetime.date) else s) for a, s in pairs]
        numbers = kind != "VARCHAR"
        counts, even = plain(counted, counted, **options, numbers=numbers)
        found, found_even = ask(attacked, numbers, **options)
        assert found == counts
        assert found_even == (even if even is None else pytest.approx(even))

    equal()


def classes_of(con, *classes):
    """Make a raw table of classes, each a mapping of values to counts, and its release."""
    con.execute("CREATE TABLE raw (a INTEGER, s VARCHAR)")
    for at, values in enumerate(classes):
        for value, count in values.items():
            con.execute("INSERT INTO raw SELECT ?, ? FROM range(?)", [at, value, count])
    con.execute("CREATE TABLE label AS SELECT a::VARCHAR AS a, s FROM raw")


def row_of(attacked, **more):
    return attacked("attack_inference", quasi=["a"], sensitive="'s'", **more)[0]


def test_a_rare_value_that_most_of_a_class_has(con, attacked):
    classes_of(con, {"hiv": 8, "none": 2}, {"none": 90})
    row = row_of(attacked)
    assert (row["rows"], row["certain"], row["inferred"], row["lifted"]) == (100, 90, 10, 10)
    assert row_of(attacked, sure=0.81)["inferred"] == 0


def test_of_the_commonest_value_only_what_was_not_known_before(con, attacked):
    """A share of .9 tells nothing where that of the table is .88; one of .99 does where it is .5."""
    classes_of(con, {"no": 90, "yes": 10}, {"no": 86, "yes": 14})
    assert row_of(attacked)["inferred"] == 0


def test_a_class_of_nearly_one_value_in_an_even_column(con, attacked):
    classes_of(con, {"no": 999, "yes": 1}, {"no": 2, "yes": 998})
    row = row_of(attacked)
    assert (row["certain"], row["inferred"]) == (0, 2000)
    assert row["even_values"] == pytest.approx(2, abs=1e-4)


def test_even_values(con, attacked):
    classes_of(con, {"no": 94, "yes": 6})
    assert row_of(attacked)["even_values"] == pytest.approx(1.2548, abs=1e-4)


def test_certain_is_what_attack_homogeneity_finds(clinic, attacked):
    for sensitive in ("['stage', 'illness']",):
        same = attacked("attack_homogeneity", sensitive=sensitive)
        found = attacked("attack_inference", sensitive=sensitive)
        for one, other in zip(same, found, strict=True):
            assert one["attribute"] == other["attribute"]
            assert (one["rows"], one["exposed_rows"]) == (other["rows"], other["certain"])


def test_a_release_in_typed_format_and_one_with_added_rows(clinic, attacked):
    wanted = attacked("attack_inference", sensitive="'stage'")
    assert attacked("attack_inference", "typed", sensitive="'stage'") == wanted
    clinic.execute("INSERT INTO label SELECT 9, 'a', '[22, 30]', 'flu' FROM range(9)")
    (found,) = attacked("attack_inference", sensitive="'stage'")
    assert found["rows"] == 15


def test_an_empty_release(clinic, attacked):
    clinic.execute("CREATE TABLE none AS FROM label LIMIT 0")
    (found,) = attacked("attack_inference", "none", sensitive="'stage'")
    assert (found["rows"], found["certain"], found["near"]) == (0, 0, 0)
    assert (found["certain_share"], found["near_share"]) == (None, None)


def test_hostile_names(con):
    name = "a \"' ; drop"
    quoted = '"' + name.replace('"', '""') + '"'
    con.execute(f"CREATE TABLE raw AS SELECT i % 3 AS {quoted}, i % 5 AS s FROM range(60) t(i)")
    con.execute(f"CREATE TABLE label AS SELECT * REPLACE ({quoted}::VARCHAR AS {quoted}) FROM raw")
    con.execute("FROM attack_inference('raw', 'label', ?, quasi := ?)", ["s", [name]])
    assert con.fetchall()[0][:3] == ("s", 60, 0)


@pytest.mark.parametrize("wrong", ["sure := 2", "lift := 0.5", "lift_share := -1", "within := 'x'"])
def test_parameters_out_of_range(clinic, wrong):
    call = f"FROM attack_inference('raw', 'label', 'stage', quasi := ['age', 'city'], {wrong})"
    assert fails(clinic, call).startswith(f"attack_inference: {wrong.split()[0]} must be")
