"""Linked tables are released so that every folded record has k persons; counted in plain Python."""

from collections import Counter, defaultdict
from itertools import combinations

import pytest

import anon_sql
from anon_sql import AnonError, datasets
from tests.linked.folded import hospital, rows

SETTINGS = [
    {"k": 5},
    {"k": 5, "surplus": "unlink", "format": "typed"},
    {"k": 4, "l": 3, "format": "mean"},
    {"k": 4, "l": 2, "format": "midpoint"},
    {"k": 3, "l": 2, "format": "median", "surplus": "unlink", "effort": "fast"},
]


@pytest.fixture
def made(hospital_of):
    return hospital_of(200)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_folds_have_k_persons_and_l_holds(made, settings):
    anon_sql.release_linked(made, "person", into="safe", **settings)
    folded = hospital(made)
    assert folded.smallest() >= settings["k"]
    least, every = folded.least_l("diagnosis", "code")
    assert least >= settings.get("l", 1)
    assert every >= settings.get("l", 1)


def test_every_person_and_all_the_counts_are_there(made):
    found = anon_sql.release_linked(made, "person", into="safe", surplus="unlink")
    for name, count in found.tables.items():
        ((raw,),) = made.execute(f"SELECT count(*) FROM {name}").fetchall()
        ((released,),) = made.execute(f"SELECT count(*) FROM safe.{name}").fetchall()
        assert released == count.rows + count.unlinked
        assert raw == count.rows + count.unlinked + count.left_out
    assert found.tables["person"].left_out == 0
    ((weighted, raw),) = made.execute(
        "SELECT (SELECT sum(visit_weight) FROM safe.person JOIN safe.visit USING (person_id)), "
        "(SELECT count(*) FROM visit)"
    ).fetchall()
    ((lost,),) = made.execute(
        "SELECT coalesce(sum(anon_mid(visit_rows)), 0) FROM safe.person WHERE visit_weight IS NULL"
    ).fetchall()
    assert weighted <= raw + 1e-6
    assert weighted >= raw - 2 * lost - 1e-6


def test_new_keys_are_random_and_tie_rows_as_the_raw_keys_do(made):
    anon_sql.release_linked(made, "person", into="safe", seed=1)
    first = {row["person_id"] for row in rows(made, "safe.person")}
    anon_sql.release_linked(made, "person", into="safe", seed=1, overwrite=True)
    second = {row["person_id"] for row in rows(made, "safe.person")}
    assert len(first) == len(second) == 200
    assert not first & second
    ((joined, own),) = made.execute(
        "SELECT (SELECT count(*) FROM safe.person JOIN safe.visit USING (person_id) "
        "JOIN safe.diagnosis USING (visit_id)), (SELECT count(*) FROM safe.diagnosis)"
    ).fetchall()
    assert joined == own


def _without_keys(con):
    return {
        "person": con.execute(
            "SELECT * EXCLUDE (person_id) FROM safe.person ORDER BY ALL"
        ).fetchall(),
        "joined": con.execute(
            "SELECT p.* EXCLUDE (person_id), v.* EXCLUDE (person_id, visit_id), code "
            "FROM safe.person AS p JOIN safe.visit AS v USING (person_id) "
            "LEFT JOIN safe.diagnosis USING (visit_id) ORDER BY ALL"
        ).fetchall(),
    }


def test_neither_the_order_of_rows_nor_threads_change_anything_but_keys(made):
    anon_sql.release_linked(made, "person", into="safe", l=2)
    first = _without_keys(made)
    other = anon_sql.connect()
    for table in datasets.HOSPITAL:
        other.register(
            "__rows", made.sql(f"FROM {table} ORDER BY hash({table}, 7)").to_arrow_table()
        )
        other.execute(f"CREATE TABLE {table} AS FROM __rows")
    other.execute("SET threads = 1")
    anon_sql.declare(other, "person", identifier=["person_id"], quasi=["born", "sex", "postcode"])
    anon_sql.declare(
        other,
        "visit",
        identifier=["visit_id"],
        quasi=["person_id", "visited", "ward"],
        keep=["days"],
    )
    anon_sql.declare(other, "diagnosis", keep=["visit_id"], sensitive=["code"])
    links = [
        "visit.person_id -> person.person_id",
        "diagnosis.visit_id -> visit.visit_id",
    ]
    anon_sql.release_linked(other, "person", into="safe", l=2, links=links)
    assert _without_keys(other) == first
    other.close()


def _covers(label, value):
    """Whether a label of the typed format covers a value."""
    if label is None:
        return value is None
    if isinstance(label, dict):
        return value is not None and label["min"] <= value <= label["max"]
    return (None if value is None else str(value)) in label


def test_who_knows_any_rows_of_a_person_is_left_with_k_candidates(made):
    """The covering attack with 0, 1, 2 and all rows: labels must cover different rows."""
    k = 5
    anon_sql.release_linked(made, "person", into="safe", k=k, format="typed")
    raw_rows = defaultdict(list)
    for visit in rows(made, "visit"):
        raw_rows[visit["person_id"]].append(visit)
    shown_rows = defaultdict(list)
    for visit in rows(made, "safe.visit"):
        shown_rows[visit["person_id"]].append(visit)
    persons = rows(made, "safe.person")
    for person in rows(made, "person")[:60]:
        own = raw_rows[person["person_id"]]
        alike = [
            each
            for each in persons
            if all(_covers(each[name], person[name]) for name in ("born", "sex", "postcode"))
            and each["visit_rows"]["min"] <= len(own) <= each["visit_rows"]["max"]
        ]
        assert len(alike) >= k
        known = [(), *((one,) for one in own[:4]), *combinations(own[:4], 2), tuple(own)]
        for rows_known in known:
            left = [
                each
                for each in alike
                if _matched(rows_known, shown_rows[each["person_id"]], len(own))
            ]
            assert len(left) == 0 or len(left) >= k


def _matched(known, shown, many):
    """Whether known rows can be the person's: at most as many lack a label as were left out."""
    edges = [
        [
            at
            for at, row in enumerate(shown)
            if _covers(row["visited"], one["visited"]) and _covers(row["ward"], one["ward"])
        ]
        for one in known
    ]
    taken = {}

    def place(at, seen):
        for other in edges[at]:
            if other not in seen:
                seen.add(other)
                if other not in taken or place(taken[other], seen):
                    taken[other] = at
                    return True
        return False

    placed = sum(place(at, set()) for at in range(len(known)))
    return len(known) - placed <= many - len(shown)


def test_unlinked_rows_are_labels_alone(made):
    anon_sql.release_linked(made, "person", into="safe", k=5, surplus="unlink")
    loose = made.execute("SELECT * FROM safe.visit WHERE person_id IS NULL").fetchall()
    assert loose
    assert all(days is None for *_, days in loose)
    keys = {row[0] for row in loose}
    below = {row["visit_id"] for row in rows(made, "safe.diagnosis")}
    assert not keys & below
    labels = Counter((visited, ward) for _, _, visited, ward, _ in loose)
    assert min(labels.values()) >= 5


def test_a_refused_release_leaves_the_target_as_it_was(made):
    made.execute("CREATE SCHEMA safe")
    made.execute("CREATE TABLE safe.other AS SELECT 1 AS one")
    made.execute("COMMENT ON COLUMN visit.days IS NULL")
    with pytest.raises(AnonError, match=r"needs a role, got no role for visit.days"):
        anon_sql.release_linked(made, "person", into="safe")
    assert made.execute(
        "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'safe'"
    ).fetchall() == [("other",)]


def test_a_stop_leaves_the_target_as_it_was(made, monkeypatch):
    from anon_sql.core import stopping

    calls = []

    def stop(function):
        calls.append(function)
        raise KeyboardInterrupt

    monkeypatch.setattr("anon_sql.hosts.linked.stopping.check", stop)
    with pytest.raises(KeyboardInterrupt):
        anon_sql.release_linked(made, "person", into="safe")
    assert calls
    assert stopping.check is stop
    ((there,),) = made.execute(
        "SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'safe'"
    ).fetchall()
    assert there == 0


@pytest.mark.parametrize("files", ["parquet", "csv"])
def test_into_a_folder(made, tmp_path, files):
    into = f"{tmp_path}/out/"
    found = anon_sql.release_linked(made, "person", into=into, format_files=files)
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == [f"{name}.{files}" for name in ("diagnosis", "person", "visit")]
    ((many,),) = made.execute(f"SELECT count(*) FROM '{into}visit.{files}'").fetchall()
    assert many == found.tables["visit"].rows
    with pytest.raises(AnonError, match="into must be a new folder"):
        anon_sql.release_linked(made, "person", into=into)
    if files == "parquet":
        anon_sql.release_linked(made, "person", into=into, overwrite=True, effort="fast")


def test_into_an_attached_database(made, tmp_path):
    made.execute(f"ATTACH '{tmp_path}/other.duckdb' AS other")
    anon_sql.release_linked(made, "person", into="other.main")
    assert made.execute("SELECT count(*) FROM other.main.person").fetchall() == [(200,)]
    made.execute("DETACH other")


def test_the_raw_tables_are_not_overwritten(made):
    with pytest.raises(AnonError, match="into must be another schema than that of the raw tables"):
        anon_sql.release_linked(made, "person", into="main", overwrite=True)
    made.execute("CREATE SCHEMA safe; CREATE TABLE safe.visit AS SELECT 1 AS one")
    with pytest.raises(AnonError, match="into must have no tables of these names"):
        anon_sql.release_linked(made, "person", into="safe")


def test_parameters_that_do_not_apply_are_refused(made):
    with pytest.raises(AnonError, match="t does not apply to linked tables yet"):
        anon_sql.release_linked(made, "person", into="safe", t=0.2)
    with pytest.raises(AnonError, match="there is no such parameter, got lnks"):
        anon_sql.release_linked(made, "person", into="safe", lnks=[])


def test_surplus_is_near_the_least(made):
    """At most 1.2 times the lower bound and 1 % of the rows."""
    counts = sorted(
        many
        for (many,) in made.execute(
            "SELECT count(visit_id) FROM person LEFT JOIN visit USING (person_id) "
            "GROUP BY person.person_id"
        ).fetchall()
    )
    k, best = 5, [0] + [None] * len(counts)
    for end in range(k, len(counts) + 1):
        options = [
            best[start] + sum(counts[start:end]) - (end - start) * counts[start]
            for start in range(max(0, end - 2 * k + 1), end - k + 1)
            if best[start] is not None
        ]
        best[end] = min(options) if options else None
    found = anon_sql.release_linked(made, "person", into="safe", k=k)
    assert found.tables["visit"].left_out <= 1.2 * best[-1] + 0.01 * sum(counts)


def test_data_frames_are_told_how_they_get_names(con):
    frame = con.sql("SELECT 1 AS id").df()
    with pytest.raises(AnonError, match=r"got a DataFrame; register data frames: con\.register"):
        anon_sql.release_linked(frame, "person", into="safe")
    with pytest.raises(AnonError, match="root must be the name of a table, got a dict; register"):
        anon_sql.release_linked(con, {"person": frame}, into="safe")
    with pytest.raises(AnonError, match=r"anon_sql\.release_linked releases tables"):
        anon_sql.anonymize({"person": frame}, k=2)
