"""What all measures share: how relations are named, roles, and each error word for word."""

import pytest

import anon_sql
from tests.inserting import insert
from tests.sentence import fails

pytestmark = pytest.mark.oldest

ALL = [
    *("dm", "dm_star", "cavg", "gcp", "iloss", "suppression_rate", "k_anonymity"),
    *("utility", "attribute_loss", "equivalence_classes", "risk", "audit"),
    *("l_diversity", "t_closeness"),
]
TABLES = ("utility", "attribute_loss", "equivalence_classes", "risk", "audit")
SENSITIVE = ("l_diversity", "t_closeness")  # which need another column, once all else is right
ORDER = "the raw table must come first and its release second, got "


def call(function, raw="raw", released="label", quasi="['age', 'city']"):
    start = "FROM" if function in TABLES else "SELECT"
    return f"{start} {function}('{raw}', '{released}', quasi := {quasi})"


def measure(con, raw, released, quasi="['age', 'city']"):
    return con.execute(call("gcp", raw, released, quasi)).fetchall()[0][0]


def test_tables_views_files_and_quoted_names(hand, shape, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    expected = pytest.approx(10.75 / 22)
    hand.execute('CREATE SCHEMA other; CREATE TABLE other."a\'b c" AS FROM raw')
    hand.execute(f"CREATE VIEW shown AS SELECT *, 1 AS more FROM {shape}")
    hand.execute(f"CREATE TEMP TABLE passing AS FROM {shape}")
    hand.execute(f"COPY raw TO 'raw.parquet'; COPY {shape} TO 'release.parquet'")
    assert measure(hand, "other.\"a''b c\"", "shown") == expected
    assert measure(hand, "raw.parquet", "release.parquet") == expected
    assert measure(hand, "raw", "passing") == expected
    hand.execute(f'CREATE TABLE "select" AS FROM raw; CREATE TABLE r AS FROM {shape}')
    assert measure(hand, '"select"', "r") == expected


def test_ctes_and_data_frames(hand, shape):
    expected = [(pytest.approx(10.75 / 22),)]
    with_ctes = f"WITH a AS (FROM raw), b AS (FROM {shape}) "
    assert hand.execute(with_ctes + call("gcp", "a", "b")).fetchall() == expected
    frame, released = hand.execute("FROM raw").df(), hand.execute(f"FROM {shape}").df()
    assert len(frame) + len(released) == 21
    assert hand.execute(call("gcp", "frame", "released")).fetchall() == expected


def test_names_that_the_macros_use_themselves(con):
    names = ["k", "tbl", "raw", "released", "name", "cell", "x", "d", "c", 'a"b', "select", "ü Ö"]
    columns = ", ".join(f'i % 3 AS "{name.replace(chr(34), chr(34) * 2)}"' for name in names)
    con.execute(f"CREATE TABLE x AS SELECT {columns} FROM range(6) AS made(i)")
    con.execute("CREATE TABLE d AS SELECT COLUMNS(*)::VARCHAR FROM x")
    con.execute("UPDATE d SET \"a\"\"b\" = '[0, 2]', k = '[0, 1]' WHERE k <> '2'")
    lists = "[" + ", ".join(f"'{name}'" for name in names) + "]"
    assert measure(con, "x", "d", lists) == pytest.approx((4 * 1 + 4 * 0.5) / (6 * len(names)))
    con.execute("CREATE TABLE raw AS FROM x; CREATE TABLE released AS FROM d")
    loss = dict(con.execute(call("attribute_loss", "raw", "released", lists)).fetchall())
    assert list(loss) == names
    assert (loss['a"b'], loss["k"]) == (pytest.approx(4 / 6), pytest.approx(2 / 6))
    shown = con.sql(call("equivalence_classes", "x", "d", lists))
    assert shown.columns == [*names, "size", "ncp"]
    assert measure(con, "x", "d", "['A\"B']") == pytest.approx(4 / 6)


@pytest.mark.parametrize("function", [name for name in ALL if name not in SENSITIVE])
def test_declared_roles(hand, function):
    hand.execute("COMMENT ON COLUMN raw.age IS 'anon:quasi'")
    declared = call(function).replace(", quasi := ['age', 'city']", "")
    named = call(function, quasi="['age']")
    assert sorted(map(repr, hand.execute(declared).fetchall())) == sorted(
        map(repr, hand.execute(named).fetchall())
    )
    # Nothing is released here, so a declared quasi-identifier may be left out.
    assert hand.execute(call(function, quasi="['city']")).fetchall()


def test_roles_are_those_of_the_first_relation(hand):
    anon_sql.declare(hand, "label", quasi=["age"])
    said = f"dm: {ORDER}roles declared on the second only; swap them"
    assert fails(hand, "SELECT dm('raw', 'label')") == said


def test_shadowed_comments(people):
    people.execute("CREATE TABLE r AS FROM rayden('people', k := 5)")
    query = "WITH people AS (SELECT age, city FROM main.people) SELECT dm('people', 'r'"
    assert fails(people, query + ")").startswith(
        "dm: comments count only where the relation is the committed table they were written on"
    )
    found = people.execute(query + ", quasi := ['age'])").fetchall()
    assert found == people.execute("SELECT dm('people', 'r', quasi := ['age'])").fetchall()


@pytest.mark.parametrize("function", ALL)
def test_no_quasi_identifier(hand, function):
    said = (
        f"{function}: at least one quasi-identifier is needed; "
        "pass quasi := ['age', …] or declare it: COMMENT ON COLUMN t.age IS 'anon:quasi'"
    )
    assert fails(hand, call(function, quasi="NULL")) == said
    assert fails(hand, call(function, quasi="[]")) == said


@pytest.mark.parametrize("function", ALL)
def test_a_release_that_lacks_one(hand, function):
    hand.execute("CREATE TABLE less AS SELECT age, city AS town FROM label")
    said = "the release must have every quasi-identifier, got no column called city; "
    query = call(function, released="less")
    assert fails(hand, query) == f"{function}: {said}choose from age, town"


@pytest.mark.parametrize("function", ALL)
def test_swapped(hand, function, shape):
    found = fails(hand, call(function, shape, "raw"))
    got = {
        "label": "age as VARCHAR in the first and as INTEGER in the second; swap them, or read a "
        "file of labels as text",
        "typed": "AGE of type STRUCT(min INTEGER, max INTEGER) in the first; swap them",
    }
    assert found == f"{function}: {ORDER}{got[shape]}"


def test_swapped_text(hand):
    """Text alone: only what the values look like tells."""
    assert fails(hand, call("dm", "label", "raw", "['city']")) == (
        f"dm: {ORDER}11 rows in the second and 10 in the first; swap them"
    )
    hand.execute("CREATE TABLE ten AS FROM raw LIMIT 10")
    assert fails(hand, call("dm", "label", "ten", "['city']")) == (
        f"dm: {ORDER}labels of city in the first only; swap them"
    )


def test_text_that_looks_like_labels(con):
    con.execute("CREATE TABLE t (v VARCHAR); CREATE TABLE r (v VARCHAR)")
    insert(con, "t", [["*"], ["{a, b}"], ["'x'"], ["[1, 2]"]])
    pair = "{'*', '{a, b}'}"
    insert(con, "r", [[pair], [pair], [r"'\'x\''"], ["'[1, 2]'"]])
    assert con.execute("SELECT gcp('t', 'r', quasi := ['v'])").fetchall() == [(0.25,)]


@pytest.mark.parametrize(
    ("label", "said"),
    [
        *(
            (
                label,
                "a label of age must be a number, [low, high] or *, got 1 class with other; name hierarchy := if the release was made with one",
            )
            for label in (
                *(
                    "",
                    "x",
                    "[1, 2",
                    "1, 2]",
                    "[1,2]",
                    "[30, 20]",
                    "[20]",
                    "[20, 30, 40]",
                    "{20, 30}",
                ),
                *("nan", "[nan, 20]", "[20, inf]", "'20'"),
            )
        ),
        *(
            (
                label,
                "a label of age must name what the raw table holds, got 1 class with nothing of it; "
                "the raw table comes first and its release second; name hierarchy := if the release was made with one",
            )
            for label in ("19", "[61, 70]", "[-5, 19.5]")
        ),
    ],
)
def test_labels_of_numbers(hand, label, said):
    hand.execute("UPDATE label SET age = ? WHERE city = 'c'", [label])
    assert fails(hand, call("gcp")) == f"gcp: {said}"


@pytest.mark.parametrize(
    ("label", "said"),
    [
        *(
            (
                label,
                "a label of city must be a value, {…} or *, got 1 class with other; name hierarchy := if the release was made with one",
            )
            for label in (
                *("", "{a, b", "a, b}", "{a,b}", "{}", "[1, 2]", "{a, {b}}", "'a", "{'a, b}"),
                *("'a''b'", "a'b'", "{a}b", '"a"'),
            )
        ),
        (
            "{x, y}",
            "a label of city must name what the raw table holds, got 1 class with nothing of it; "
            "the raw table comes first and its release second; name hierarchy := if the release was made with one",
        ),
    ],
)
def test_labels_of_text(hand, label, said):
    hand.execute("UPDATE label SET city = ? WHERE age = '[20, 25]'", [label])
    assert fails(hand, call("gcp")) == f"gcp: {said}"
    assert fails(hand, call("dm")) == f"dm: {said}"


def test_a_label_of_nulls_where_there_are_none(hand):
    hand.execute("UPDATE label SET city = NULL WHERE age = '[20, 25]'")
    assert fails(hand, call("gcp")).startswith(
        "gcp: a label of city must name what the raw table holds, got 1 class with nothing of it"
    )


@pytest.mark.parametrize(
    ("raw", "released", "said"),
    [
        (
            "1",
            "true",
            "a release must hold labels of v, or structs and lists, got BOOLEAN; make it "
            "with a release function, or read a file of labels as text",
        ),
        (
            "1",
            "['1']",
            "a release must hold labels of v, or structs and lists, got VARCHAR[]; make "
            "it with a release function, or read a file of labels as text",
        ),
        (
            "'a'",
            "{'min': 'a', 'max': 'a'}",
            "a release must hold labels of v, or structs and "
            "lists, got STRUCT(min VARCHAR, max VARCHAR); make it with a release function, or read a "
            "file of labels as text",
        ),
        (
            "[1]",
            "'1'",
            "a quasi-identifier must be a number, a date, a time or text, got v of type "
            "INTEGER[]; leave it out of quasi or cast it; [1] takes its first element, and "
            "list_aggregate() a figure of all",
        ),
        (
            "'nan'::DOUBLE",
            "'1'",
            "v must hold finite values, got some that are NaN or infinite; "
            "make them NULL or leave the rows out",
        ),
        (
            "'infinity'::DATE",
            "'*'",
            "v must hold finite values, got some that are NaN or infinite; "
            "make them NULL or leave the rows out",
        ),
    ],
)
def test_types(con, raw, released, said):
    con.execute(f"CREATE TABLE t AS SELECT {raw} AS v; CREATE TABLE r AS SELECT {released} AS v")
    assert fails(con, call("dm", "t", "r", "['v']")) == f"dm: {said}"


def test_a_relation_that_does_not_exist_is_duckdbs_error(hand):
    assert "nope does not exist" in fails(hand, call("dm", released="nope"))
    assert "nope does not exist" in fails(hand, call("dm", raw="nope"))
