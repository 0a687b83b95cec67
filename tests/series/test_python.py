"""anon_sql.release with a series: state, release and file in one transaction."""

import warnings

import pytest

import anon_sql
from anon_sql import AnonError, frames
from tests.series.months import KEY, make_month, status

ROLES = {
    "quasi": ["age", "city"],
    "sensitive": "illness",
    "keep": ["ward"],
    "entity": "person",
    "key": KEY,
}


def released(con, into, **more):
    return anon_sql.release(con, "people", into=into, series="anon_series", **{**ROLES, **more})


def test_months(con, tmp_path):
    make_month(con, 0, 200)
    released(con, "may", l=2)
    make_month(con, 30, 230)
    file = tmp_path / "june.parquet"
    found = released(con, str(file))
    figures = status(con)
    assert (found.rows, found.suppressed) == (figures["present"] + figures["former"], 0)
    assert figures["release"] == 2
    assert con.execute("SELECT count(*) FROM read_parquet(?)", [str(file)]).fetchall() == [
        (figures["present"] + figures["former"],)
    ]
    by_hand = con.execute(
        f"FROM anonymize('people', series := 'anon_series', quasi := ['age', 'city'], "
        f"sensitive := 'illness', keep := 'ward', entity := 'person', key := '{KEY}')"
    ).fetchall()
    assert con.execute("FROM read_parquet(?)", [str(file)]).fetchall() == by_hand


def test_a_release_that_fails_leaves_the_state_as_it_was(con):
    make_month(con, 0, 200)
    released(con, "may", l=2)
    before = con.execute("FROM anon_series ORDER BY ALL").fetchall()
    make_month(con, 30, 230)
    with pytest.raises(AnonError, match="a release must have at least k = 5000"):
        released(con, "june", k=5000)
    assert con.execute("FROM anon_series ORDER BY ALL").fetchall() == before
    assert con.execute(
        "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'june'"
    ).fetchall() == [(0,)]


def test_a_file_that_cannot_get_its_name_leaves_the_state(con, tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    make_month(con, 0, 200)
    for month in range(2):
        with monkeypatch.context() as patch:
            patch.setattr("anon_sql.hosts.files.os.replace", refuse)
            with pytest.raises(OSError, match="No space left"):
                released(con, str(tmp_path / f"{month}.csv"))
        assert list(tmp_path.iterdir()) == [tmp_path / f"{n}.csv" for n in range(month)]
        if month == 0:
            assert con.execute("SHOW TABLES").fetchall() == [("people",)]
        else:
            assert status(con)["release"] == 1
        released(con, str(tmp_path / f"{month}.csv"))
        make_month(con, 30, 230)
    assert status(con)["release"] == 2


def test_the_first_release_that_fails_leaves_no_state(con):
    make_month(con, 0, 60)
    with pytest.raises(AnonError, match="at least k = 5000"):
        released(con, "may", k=5000)
    assert con.execute("SHOW TABLES").fetchall() == [("people",)]


def test_it_runs_in_a_transaction_of_the_caller(con):
    make_month(con, 0, 100)
    con.execute("BEGIN")
    released(con, "may")
    con.execute("ROLLBACK")
    assert con.execute("SHOW TABLES").fetchall() == [("people",)]


def test_rows_that_are_unique_on_kept_columns_are_told_as_of_other_releases(con):
    make_month(con, 0, 100)
    con.execute("ALTER TABLE people ADD COLUMN bed VARCHAR; UPDATE people SET bed = 'b' || person")
    given = {**ROLES, "keep": ["ward", "bed"]}
    state = frames.series_next(con.table("people").df(), None, **given)
    calls = [
        lambda: anon_sql.release(con, "people", into="may", series="anon_series", **given),
        lambda: frames.anonymize(con.table("people").df(), series=state, **given),
    ]
    said = [str(told(call).message) for call in calls]
    assert said[0] == said[1]
    assert said[0].startswith("anonymize: ")
    assert " rows are unique on the kept columns together, " in said[0]
    assert "bed alone" in said[0]
    for name in ("bed", "illness"):  # declared ones are not counted either
        con.execute(f"COMMENT ON COLUMN people.{name} IS 'anon:sensitive'")
    declared = {**ROLES, "sensitive": None}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        anon_sql.release(con, "people", into="june", series="others", **declared)


def told(call):
    """The only warning of a call, which names this file."""
    with pytest.warns(anon_sql.AnonWarning) as said:
        call()
    (one,) = said
    assert one.filename == __file__
    return one


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"method": "full_domain"}, "series must go with a method whose classes can be whole"),
        (
            {"parts": 2},
            "series must come without parts and folders, got parts; the persons of a cohort may",
        ),
        ({"leef": 20}, "parameters must be those of the method, got 'leef'"),
        ({"l": 9}, "at most the number of values of illness"),
    ],
)
def test_what_is_refused(con, more, says):
    make_month(con, 0, 60)
    with pytest.raises(AnonError, match=says):
        released(con, "may", **more)
