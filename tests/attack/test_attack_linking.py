"""attack_linking: by hand, against the plain twin, every type and format, samples and errors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.attack import twin
from tests.drawing import examples
from tests.inserting import insert
from tests.sentence import fails


def test_by_hand(clinic, shape, attacked):
    illness, stage = attacked("attack_linking", shape, sensitive="['illness', 'stage']")
    reidentified = 3 / 4 + 1 / 6 + 1 / 3 + 2 / 2
    assert illness == {
        "attribute": "illness",
        "persons": 7,
        "reidentified": pytest.approx(reidentified),
        "reidentified_share": pytest.approx(reidentified / 7),
        "disclosed": 4,  # 1, 2, 3 and 5; of 6 nothing is known, and 7 is not shown
        "disclosed_share": 4 / 7,
    }
    assert stage == {
        **illness,
        "attribute": "stage",
        "disclosed": 1,  # 6; 7 would be taken for a 2
        "disclosed_share": 1 / 7,
    }


def test_a_row_shown_as_suppressed_or_left_out_is_anybodys(clinic, attacked):
    before = attacked("attack_linking", sensitive="'illness'")
    clinic.execute("INSERT INTO label VALUES (1, '*', '*', 'ulcer')")
    shown = attacked("attack_linking", sensitive="'illness'")
    assert shown[0]["reidentified"] == before[0]["reidentified"]
    assert shown[0]["disclosed"] == 1  # 7, since 6 has no value; all others have the ulcer beside


def test_added_rows(clinic, attacked):
    """More rows than persons: nobody is left out, and some match none."""
    clinic.execute("DELETE FROM label WHERE city = '*'")
    clinic.execute("INSERT INTO label SELECT 9, 'a', '[22, 30]', 'flu' FROM range(9)")
    (found,) = attacked("attack_linking", sensitive="'illness'")
    assert found["reidentified"] == pytest.approx(2 / 2 + 1 / 11 + 1 / 13 + 1)
    assert found["disclosed"] == 3  # 1, 2 and 5


def table(con, rows, classes, left_out):
    """Tables raw and label, and the latter as the twin takes it; class 0 is suppressed."""
    con.execute("DELETE FROM raw; DELETE FROM label")
    insert(con, "raw", rows)
    people = [dict(zip("acsn", row, strict=True)) for row in rows]
    released = []
    for number in sorted(set(classes)):
        held = [row for row, at in zip(people, classes, strict=True) if at == number]
        labels = {}
        for q in "ac":
            values = [row[q] for row in held]
            if number == 0 or None in values:
                labels[q] = None if number and set(values) == {None} else twin.STAR
            else:
                labels[q] = (min(values), max(values)) if q == "a" else set(values)
        released += [(labels, row) for row in held]
    released = released[left_out:]
    for labels, row in released:
        shown = [twin.shown(labels[q]) for q in "ac"]
        con.execute("INSERT INTO label VALUES (?, ?, ?, ?)", [*shown, row["s"], row["n"]])
    return people, released


def releases(con, holds):
    con.execute("CREATE TABLE raw (a INTEGER, c VARCHAR, s VARCHAR, n INTEGER)")
    con.execute("CREATE TABLE label (a VARCHAR, c VARCHAR, s VARCHAR, n INTEGER)")
    row = st.tuples(
        st.none() | st.integers(-2, 12),
        st.none() | st.sampled_from(["a", "b", "c", "d"]),
        st.none() | st.sampled_from("xyz"),
        st.none() | st.integers(0, 2),
    )
    member = st.tuples(row, st.integers(0, 3))

    @examples(20)
    @given(st.lists(member, min_size=1, max_size=14), st.integers(0, 2))
    def tried(members, left_out):
        rows, classes = map(list, zip(*members, strict=True))
        holds(*table(con, rows, classes, left_out))

    tried()


def test_against_the_twin(con, attacked):
    def holds(raw, released):
        found = attacked("attack_linking", quasi=["a", "c"], sensitive="['s', 'n']")
        for one in found:
            reidentified, disclosed = twin.linking(raw, released, "ac", one["attribute"])
            assert one["reidentified"] == pytest.approx(reidentified)
            assert one["disclosed"] == disclosed

    releases(con, holds)


TYPES = {
    **dict.fromkeys(["TINYINT", "UBIGINT", "HUGEINT", "DECIMAL(9, 2)", "DECIMAL(30, 3)"], "i"),
    **dict.fromkeys(["FLOAT", "DOUBLE"], "i / 3 - 1"),
    "DATE": "DATE '1999-12-30' + i::INTEGER",
    "TIME": "TIME '10:00:00' + to_seconds(i)",
    **dict.fromkeys(
        ["TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_NS"], "TIMESTAMP '2000-01-01' + to_hours(i)"
    ),
    "BOOLEAN": "i % 2 = 0",
    "UUID": "format('00000000-0000-0000-0000-{:012d}', i % 4)",
    "ENUM('p', 'q', 'r')": "['p', 'q', 'r'][1 + i % 3]",
    "VARCHAR": "['a, b', '[3', '{', '*', '', 'it''s', 'NULL'][1 + i % 7]",
}


@pytest.mark.slow
@pytest.mark.oldest
@pytest.mark.parametrize("kind", TYPES)
def test_every_type_in_both_formats(con, kind):
    """Whoever is shown is among the matching rows, of which there are as SQL counts them."""
    con.execute("SET TimeZone = 'Asia/Kathmandu'")
    con.execute(
        f"CREATE TABLE raw AS SELECT ({TYPES[kind]})::{kind} AS v, i % 5 AS s FROM range(24) AS r(i)"
    )
    con.execute("UPDATE raw SET v = NULL WHERE s = 4 AND v = (SELECT max(v) FROM raw)")
    call = "FROM mondrian('raw', k := 3, quasi := ['v'], keep := ['*'], format := '{}')"
    con.execute(f"CREATE TABLE shown AS {call.format('label')}")
    con.execute(f"CREATE TABLE typed AS {call.format('typed')}")
    text = kind in ("BOOLEAN", "UUID", "VARCHAR") or kind.startswith("ENUM")
    inside = (
        "list_contains(anon_values(shown.v), raw.v::VARCHAR)"
        if text
        else f"raw.v BETWEEN anon_min(shown.v)::{kind} AND anon_max(shown.v)::{kind}"
    )
    wanted = con.execute(
        f"SELECT sum(1 / m) FROM (SELECT count(*) AS m FROM raw, shown WHERE coalesce(shown.v = '*', "
        f"false) OR (raw.v IS NULL AND shown.v IS NULL) OR coalesce({inside}, false) "
        f"GROUP BY raw.rowid)"
    ).fetchall()[0][0]
    for released in ("shown", "typed"):
        found = con.execute(
            f"SELECT persons, reidentified FROM attack_linking('raw', '{released}', 's', quasi := ['v'])"
        )
        assert found.fetchall() == [(24, pytest.approx(wanted))]


@pytest.fixture
def towns(con):
    con.execute(
        "CREATE TABLE raw AS SELECT 18 + i % 30 AS age, ['ab', 'ac', 'ba', 'bb'][1 + i % 4] AS town, "
        "i % 3 AS s FROM range(120) AS r(i)"
    )
    con.execute(
        "CREATE TABLE tree AS FROM numeric_hierarchy('raw', 'age', [5, 10]) "
        "UNION ALL FROM prefix_hierarchy('raw', 'town', [1])"
    )
    return con


@pytest.mark.parametrize("form", ["label", "typed"])
def test_nodes_of_a_hierarchy(towns, form, attacked):
    towns.execute(
        "CREATE TABLE r AS FROM basic_mondrian('raw', k := 4, quasi := ['age', 'town'], keep := ['*'], "
        f"sensitive := ['s'], hierarchy := 'tree', format := '{form}')"
    )
    shown = towns.execute(
        "FROM basic_mondrian('raw', k := 4, quasi := ['age', 'town'], keep := ['*'], sensitive := ['s'], "
        "hierarchy := 'tree')"
    ).fetchall()
    below = {}
    paths = towns.execute("SELECT attribute, value, label FROM tree").fetchall()
    for attribute, value, label in paths:
        below.setdefault((attribute, label), set()).add(value)
        below[attribute, value] = {value}
    released = []
    for age, town, s in shown:
        labels = {"age": below["age", age.strip("'")], "town": below["town", town]}
        released.append((labels, {"s": s}))
    rows = towns.execute("SELECT age::VARCHAR AS age, town, s FROM raw").fetchall()
    raw = [dict(zip(("age", "town", "s"), row, strict=True)) for row in rows]
    reidentified, disclosed = twin.linking(raw, released, ["age", "town"], "s")
    (found,) = attacked("attack_linking", "r", ["age", "town"], sensitive="'s'", hierarchy="'tree'")
    assert (found["reidentified"], found["disclosed"]) == (pytest.approx(reidentified), disclosed)


def test_a_sample_and_its_seed(clinic, attacked):
    def ask(sample, seed):
        (found,) = attacked("attack_linking", sensitive="'illness'", sample=sample, seed=seed)
        return found["persons"], found["reidentified"]

    assert ask("NULL", 1) == ask(7, 2) == ask(50, 3)
    assert ask(3, 1)[0] == 3
    assert len({ask(3, seed) for seed in range(9)}) > 1
    first = ask(3, 5)
    clinic.execute("CREATE TABLE turned AS FROM raw ORDER BY age DESC")
    clinic.execute("DROP TABLE raw; ALTER TABLE turned RENAME TO raw; SET threads = 1")
    assert ask(3, 5) == first


@pytest.mark.oldest
def test_names_of_any_kind(con, attacked):
    """Columns called like what the macros, the results and the parameters are called."""
    names = ["key", "text", "raw", "released", "a b", "'", '"', "attribute", "É"]
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    columns = ", ".join(f"i % {2 + at} AS {name}" for at, name in enumerate(quoted))
    con.execute(f'CREATE TABLE raw AS SELECT {columns}, i % 2 AS "sample" FROM range(12) AS r(i)')
    shown = ", ".join(f"{name}::VARCHAR AS {name}" for name in quoted)
    con.execute(f'CREATE TABLE label AS SELECT {shown}, "sample" FROM raw')
    quasi = "[" + ", ".join("'" + name.replace("'", "''") + "'" for name in names) + "]"
    found = con.execute(
        f"FROM attack_linking('raw', 'label', 'sample', quasi := {quasi})"
    ).fetchall()
    assert found == [("sample", 12, 12.0, 1.0, 12, 1.0)]


def test_no_rows_at_all(clinic, attacked):
    clinic.execute("CREATE TABLE none AS FROM label LIMIT 0")
    (found,) = attacked("attack_linking", "none", sensitive="'illness'")
    assert (found["reidentified"], found["disclosed"]) == (
        pytest.approx(1),
        0,
    )  # 7 persons, 7 left out
    clinic.execute("DELETE FROM raw")
    (found,) = attacked("attack_linking", "none", sensitive="'illness'")
    assert list(found.values()) == ["illness", 0, 0.0, None, 0, None]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("sample := 0", "sample must be a whole number of at least 1, got 0"),
        ("sample := 'x'", "sample must be a whole number of at least 1, got a VARCHAR"),
        ("seed := -1", "seed must be a whole number of at least 0, got -1"),
        ("seed := NULL", "seed must be a whole number of at least 0, got NULL"),
    ],
)
def test_what_it_refuses(clinic, given, said):
    call = f"FROM attack_linking('raw', 'label', 'stage', quasi := ['age', 'city'], {given})"
    assert fails(clinic, call).startswith(f"attack_linking: {said}")


@pytest.mark.parametrize(
    "setting", ["arrow_output_version = '1.5'", "arrow_large_buffer_size = true"]
)
def test_settings_do_not_show_in_an_attack(clinic, shape, setting):
    """Nor in an audit with l and t: DuckDB hands lists over in other types of Arrow."""
    given = "quasi := ['age', 'city'], sensitive := ['illness', 'stage']"
    attacks = ["homogeneity", "skewness", "linking", "background"]
    calls = [f"FROM attack_{name}('raw', '{shape}', {given})" for name in attacks]
    calls.append(f"FROM audit('raw', '{shape}', l := 1, t := 1, {given})")
    expected = [clinic.execute(call).fetchall() for call in calls]
    try:
        clinic.execute(f"SET {setting}")
        assert [clinic.execute(call).fetchall() for call in calls] == expected
    finally:
        clinic.execute(f"RESET {setting.partition(' ')[0]}")


@pytest.mark.slow
def test_adult(adult):
    """On real rows: nobody is surer than 1 / k, and no release shows more than the table does."""
    for k in (5, 50):
        adult.execute(f"CREATE OR REPLACE TABLE r AS FROM anonymize('adult', k := {k})")
        ((persons, share, disclosed),) = adult.execute(
            "SELECT persons, reidentified_share, disclosed_share FROM attack_linking('adult', 'r')"
        ).fetchall()
        assert persons == 30162
        assert 0 < share < 1 / k
        assert 0 < disclosed < 1
