"""anon_shift: one shift for all dates of a person, never none, never known from the pseudonym."""

import hashlib
import hmac
from collections import Counter
from datetime import date, datetime

import pytest

from tests.sentence import fails

pytestmark = [pytest.mark.quick, pytest.mark.oldest]

KEY = "a secret key of the hospital"


@pytest.mark.parametrize("days", [1, 3, 30])
def test_every_shift_is_as_likely_but_none(con, days):
    found = con.execute(
        "SELECT anon_shift(DATE '2000-01-01', i, $k, days := $d) - DATE '2000-01-01' FROM range(12000) AS r(i)",
        {"k": KEY, "d": days},
    ).fetchall()
    counts = Counter(shift for (shift,) in found)
    assert set(counts) == {*range(-days, 0), *range(1, days + 1)}
    mean = 12000 / (2 * days)
    assert sum((n - mean) ** 2 / mean for n in counts.values()) < 2 * days + 6 * (4 * days) ** 0.5


def test_the_shift_is_of_hmac_sha_512(con):
    for name in ("Ada", "", "ÄÖ"):
        drawn = int.from_bytes(hmac.digest(KEY.encode(), name.encode(), hashlib.sha512), "big") % 60
        wanted = [*range(-30, 0), *range(1, 31)][drawn]
        call = "SELECT anon_shift(DATE '2000-03-01', $n, $k) - DATE '2000-03-01'"
        assert con.execute(call, {"n": name, "k": KEY}).fetchall() == [(wanted,)]


def test_dates_of_a_person_stay_in_order_and_apart(con):
    con.execute(
        f"""
        CREATE TABLE t AS SELECT i % 50 AS who, DATE '2020-01-01' + (i * 17 % 700)::INTEGER AS d,
            d + INTERVAL 90061 SECOND AS s FROM range(3000) AS r(i);
        CREATE TABLE u AS SELECT *, anon_shift(d, who, '{KEY}') AS e, anon_shift(s, who, '{KEY}') AS z FROM t
        """
    )
    assert con.execute(
        "SELECT count(DISTINCT (who, e - d)), bool_and(z - s = to_days((e - d)::INTEGER)) FROM u"
    ).fetchall() == [(50, True)]


def test_types(con):
    found = con.sql(
        f"""
        SELECT anon_shift(TIMESTAMP '2024-02-28 10:11:12.123456', 'a', '{KEY}') AS a,
            anon_shift(TIMESTAMP_S '2024-02-28 10:11:12', 'a', '{KEY}') AS b,
            anon_shift(TIMESTAMP_MS '2024-02-28 10:11:12.123', 'a', '{KEY}') AS c,
            anon_shift(DATE '0044-03-15 (BC)', 'a', '{KEY}') IS NULL AS d
        """
    )
    assert list(map(str, found.types[:3])) == ["TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS"]
    one, other, third, missing = found.fetchall()[0]
    assert one.time() == datetime(2024, 2, 28, 10, 11, 12, 123456).time()
    assert one.date() == other.date() == third.date() != date(2024, 2, 28)
    assert missing is False


def test_null(con):
    """A person who is not known has no shift, and the date does not go out as it is."""
    found = con.execute(
        f"SELECT anon_shift(NULL::DATE, 'a', '{KEY}'), anon_shift(DATE '2024-01-01', NULL, '{KEY}'), "
        f"anon_shift(DATE '2024-01-01', NULL::INTEGER, '{KEY}')"
    )
    assert found.fetchall() == [(None, None, None)]


def test_names_of_parameters(con):
    con.execute(
        """CREATE TABLE t AS SELECT DATE '2024-01-01' AS "date, ""x"" y", 'a' AS "order" """
    )
    found = con.execute(
        f"""SELECT anon_shift(date := "date, ""x"" y", entity := "order", key := '{KEY}', days := 5)
            = anon_shift("date, ""x"" y", "order", '{KEY}', 5) FROM t"""
    )
    assert found.fetchall() == [(True,)]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("'2024-01-01', 'a', {}", "date must be a DATE or TIMESTAMP, got VARCHAR; cast it: date::"),
        (
            "TIMESTAMPTZ '2024-01-01', 'a', {}",
            "date must be a DATE or TIMESTAMP, got TIMESTAMP WITH",
        ),
        (
            "TIMESTAMP_NS '2024-01-01', 'a', {}",
            "date must be a DATE or TIMESTAMP, got TIMESTAMP_NS",
        ),
        ("DATE '2024-01-01', 1.5::DOUBLE, {}", "entity must be text, BLOB, UUID, BOOLEAN, a whole"),
        ("DATE '2024-01-01', 'a', {}, 0", "days must be a whole number of at least 1, got 0"),
        ("DATE '2024-01-01', 'a', {}, NULL", "days must be a whole number of at least 1, got NULL"),
        ("DATE '2024-01-01', 'a', {}, 36526", "days must be at most 36525, got 36526"),
    ],
)
def test_refusals(con, call, sentence):
    written = f"SELECT anon_shift({call})".format(f"'{KEY}'")
    assert fails(con, written).startswith(f"anon_shift: {sentence}")
