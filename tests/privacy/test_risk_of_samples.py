"""risk of a sample of an unknown population, on samples of tables that the test knows."""

import random
from collections import Counter
from math import comb

import numpy as np
import pytest

from anon_sql import datasets
from anon_sql.risk.estimators import (
    _expected,
    class_sizes,
    pitman,
    population_unique,
    shlosser,
    zayatz,
)
from anon_sql.risk.risk import expected_risk
from tests.conftest import QUASI
from tests.inserting import insert
from tests.sentence import fails


def risk(con, text):
    found = con.execute(f"FROM risk({text})")
    names = [column[0] for column in found.description]
    return dict(zip(names, found.fetchall()[0], strict=True))


def test_the_published_example_of_individual_risk(con):
    """Eight rows with weights: table 2 of Templ 2008, after Capobianchi et al. 2001."""
    weights = [18.0, 45.5, 39.0, 17.0, 541.0, 8.0, 5.0, 92.0]
    keys = ["1251", "1211", "1211", "3315", "4314", "4311", "6215", "1251"]
    wanted = [0.017, 0.022, 0.022, 0.177, 0.012, 0.297, 0.402, 0.017]
    con.execute("CREATE TABLE t (key VARCHAR, w DOUBLE)")
    insert(con, "t", list(zip(keys, weights, strict=True)))
    found = risk(con, "'t', 't', quasi := ['key'], sampling_weights := 'W', threshold := 0.1")
    assert round(found["journalist"], 3) == max(wanted)
    assert found["journalist_at_risk"] == 3
    assert found["marketer"] == pytest.approx(np.mean(wanted), abs=5e-4)
    f = np.array([2, 2, 1, 1, 1, 1])
    by_class = expected_risk(f, f / np.array([110.0, 84.5, 17.0, 541.0, 8.0, 5.0]))
    assert [round(each, 3) for each in by_class.tolist()] == [
        *(0.017, 0.022, 0.177, 0.012, 0.297, 0.402)
    ]


@pytest.mark.parametrize("fraction", [1e-4, 0.03, 0.49, 0.5, 0.8, 1.0])
def test_expected_risk_is_that_of_the_negative_binomial(fraction):
    for rows in (1, 2, 3, 7, 49, 60):
        total, chance, size = 0.0, fraction**rows, rows
        if fraction < 0.01 and rows > 1:
            continue  # the plain sum takes too long
        while size < 400_000 and not (chance < 1e-14 and size > rows / fraction):
            total += chance / size
            chance *= size / (size - rows + 1) * (1 - fraction)
            size += 1
        found = expected_risk(np.array([rows]), np.array([fraction]))[0]
        assert found == pytest.approx(total, rel=1e-9, abs=1e-12)


def test_zayatz_by_plain_binomials():
    sizes = [1, 1, 1, 2, 3, 3]
    n, N = sum(sizes), 40
    once = {size: size * comb(N - size, n - 1) / comb(N, n) for size in set(sizes)}
    share = 3 / 6 * once[1] / sum(once[size] / 6 for size in sizes)
    assert zayatz(class_sizes(np.array(sizes), N)) == pytest.approx(3 * share * N / n)


def pitman_sizes(theta, alpha, rows, seed):
    """Class sizes drawn by Pitman's urn, row after row."""
    pick, sizes = random.Random(seed), []
    for drawn in range(rows):
        if pick.random() * (theta + drawn) < theta + alpha * len(sizes):
            sizes.append(1)
        else:
            at = pick.choices(range(len(sizes)), [size - alpha for size in sizes])[0]
            sizes[at] += 1
    return sizes


def test_pitman_finds_the_parameters_of_its_own_model():
    """The uniques of a population of 4,000 rows of Pitman's urn, from samples of 400."""
    sizes = pitman_sizes(20.0, 0.6, 4000, seed=3)
    true = sizes.count(1)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    pick = np.random.default_rng(5)
    found = []
    for _ in range(10):
        drawn = np.unique(pick.choice(rows, 400, replace=False), return_counts=True)[1]
        found.append(pitman(class_sizes(drawn, 4000)))
    assert np.mean(found) == pytest.approx(true, rel=0.1)


def test_the_equations_of_snb_are_the_expected_classes():
    """Against a plain sum over class sizes of the population, each sampled row by row."""
    alpha, beta, p, classes = 1.7, 0.15, 0.2, 1000.0
    chance, size, plain = beta**alpha, 1, [0.0, 0.0]
    while size < 400:
        for rows in (1, 2):
            plain[rows - 1] += chance * comb(size, rows) * p**rows * (1 - p) ** (size - rows)
        chance *= (alpha + size - 1) / size * (1 - beta)
        size += 1
    found = _expected(np.array([np.log(alpha), np.log(beta / (1 - beta))]), p, classes)
    assert found.tolist() == pytest.approx([classes * each for each in plain])
    assert shlosser(class_sizes(np.array([1, 2, 5]), 8)) == pytest.approx(3)  # all were sampled


def errors_of_ten_samples(con, table, columns):
    """The relative errors of the rule on ten samples, .5 to 5 % of a table's rows."""
    hashed = ", ".join(f"hash({name}) AS {name}" for name in columns)
    keys = con.execute(f"SELECT {hashed} FROM {table}").fetchnumpy()
    rows = np.unique(np.column_stack(list(keys.values())), axis=0, return_inverse=True)[1]
    rows = rows.reshape(-1)
    true = (np.bincount(rows) == 1).sum() / len(rows)
    pick, found = np.random.default_rng(1), []
    for fraction in np.linspace(0.005, 0.05, 10):
        drawn = pick.choice(rows, int(fraction * len(rows)), replace=False)
        sizes = np.unique(drawn, return_counts=True)[1]
        estimated = population_unique(sizes, len(rows))["population_unique"]
        found.append(abs(estimated - true) / true)
    return found


@pytest.mark.parametrize(
    "columns",
    [QUASI, ["age", "education_num", "marital_status", "race", "sex"], ["age", "sex", "race"]],
)
def test_uniqueness_of_samples_of_adult(adult, columns):
    """The rule takes Pitman for such fractions; the other two models miss by far more."""
    assert np.median(errors_of_ten_samples(adult, "adult", columns)) < 0.35


def test_uniqueness_of_samples_of_the_demonstration(con):
    datasets.adult(con, table="made", roles=False)
    assert np.median(errors_of_ten_samples(con, "made", QUASI)) < 0.5


def test_marketer_and_journalist_of_samples_of_a_known_table(con):
    """Ten samples: the expected risk is that of the true population classes."""
    pick = random.Random(2)
    table = [pick.randint(0, 40) ** 2 // 9 for _ in range(4000)]
    often = Counter(table)
    con.execute("CREATE TABLE t (a INTEGER)")
    for _ in range(10):
        sample = pick.sample(table, 400)
        con.execute("DELETE FROM t")
        insert(con, "t", [[value] for value in sample])
        con.execute("CREATE OR REPLACE TABLE r AS FROM rayden('t', k := 1, quasi := ['a'])")
        by_size = risk(con, "'t', 'r', quasi := ['a'], population_size := 4000")
        assert by_size == risk(con, "'t', 'r', quasi := ['a'], sampling_fraction := 0.1")
        true = sum(1 / often[value] for value in sample) / 400
        assert by_size["marketer"] == pytest.approx(true, rel=0.15)
        assert by_size["journalist"] >= by_size["marketer"]
        assert by_size["estimator"] in ("pitman", "zayatz", "snb")
        con.execute("CREATE OR REPLACE TABLE w AS SELECT *, 10 AS w FROM r")
        assert risk(con, "'t', 'w', quasi := ['a'], sampling_weights := 'w'") == pytest.approx(
            by_size
        )


def test_a_whole_population_has_the_risk_that_it_shows(con):
    con.execute("CREATE TABLE t AS SELECT unnest([1, 2, 2, 3, 3, 3]) AS a")
    con.execute("CREATE TABLE r AS FROM rayden('t', k := 1, quasi := ['a'])")
    found = risk(con, "'t', 'r', quasi := ['a'], sampling_fraction := 1")
    assert found["journalist"] == found["prosecutor"] == 1
    assert found["marketer"] == pytest.approx(found["prosecutor_mean"])
    assert found["population_unique"] == pytest.approx(1 / 6)


def test_no_uniques_in_the_sample_and_an_empty_release(con):
    con.execute("CREATE TABLE t AS SELECT i // 3 AS a FROM range(9) AS r(i)")
    con.execute("CREATE TABLE r AS FROM rayden('t', k := 3, quasi := ['a'])")
    found = risk(con, "'t', 'r', quasi := ['a'], sampling_fraction := 0.01")
    assert (found["population_unique"], found["estimator"]) == (0, "pitman")
    con.execute("CREATE TABLE none AS FROM r LIMIT 0")
    found = risk(con, "'t', 'none', quasi := ['a'], sampling_fraction := 0.01")
    assert (found["journalist"], found["population_unique"]) == (None, None)


def test_suppressed_rows_are_one_class_with_those_left_out(wards):
    """The starred class has 3 rows shown and 2 left out; F is 3 + 2 over .5."""
    found = risk(wards, "'raw', 'label', quasi := ['a'], sampling_fraction := 0.5")
    f = np.array([4, 3, 5])
    each = expected_risk(f, np.full(3, 0.5))
    assert found["marketer"] == pytest.approx((each * [4, 3, 3]).sum() / 10)
    assert found["journalist"] == pytest.approx(each.max())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("sampling_fraction := 0", "sampling_fraction must be a number above 0, got 0"),
        (
            "sampling_fraction := 1.5",
            "the population must have at least the rows of the raw table, "
            "got sampling_fraction := 1.5",
        ),
        (
            "population_size := 11",
            "the population must have at least the rows of the raw table, got population_size := 11",
        ),
        (
            "population_size := true",
            "population_size must be a whole number of at least 1, got a BOOLEAN",
        ),
        (
            "population_size := 20, sampling_fraction := 0.5",
            "one of population, population_size, sampling_fraction and sampling_weights may be given, "
            "got sampling_fraction and population_size",
        ),
        (
            "sampling_weights := 's'",
            "sampling_weights must be positive numbers in every row",
        ),
        (
            "sampling_weights := 'kilo'",
            "sampling_weights must name a column of the release, got 'kilo'; choose from",
        ),
        ("sampling_weights := 7", "sampling_weights must name a column of the release, got int"),
    ],
)
def test_what_it_refuses(wards, given, said):
    text = fails(wards, f"FROM risk('raw', 'label', quasi := ['a'], {given})")
    assert text.startswith(f"risk: {said}")
