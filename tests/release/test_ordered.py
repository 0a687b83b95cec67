"""ordered: an ENUM whose order counts has ranges as labels, and t by the ordered distance."""

import json
from itertools import pairwise

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import anon_sql
from anon_sql import frames
from anon_sql.core.labels import grammar
from anon_sql.hosts.duckdb.sql_files import sql_files
from tests.command import run
from tests.sentence import fails

WORDS = ["very low", "low", "medium", "high, or so", "*", "it's [x]"]  # not sorted by bytes
METHODS = [file.name for file in sql_files() if file.folder == "release"]
WITHOUT = ("datafly", "full_domain", "sdka")  # tests of their own
ROLES = "quasi := ['stage ''\"', 'age'], sensitive := 'grade'"
CALL = ROLES + ", keep := ['n'], ordered := ['stage ''\"', 'grade']"
COLUMN = "stage '\""
QUOTED = '"stage \'"""'


@pytest.fixture
def table(con):
    """Return a connection with a table t of 240 rows, a 20th of whose stages is NULL."""
    listed = ", ".join("'" + word.replace("'", "''") + "'" for word in WORDS)
    con.execute(f"CREATE TYPE step AS ENUM ({listed}, 'never')")
    con.execute(f"""CREATE TABLE t AS SELECT if(i % 20 = 0, NULL, [{listed}][1 + i * 7 % 6])::step
        AS {QUOTED}, i * 37 % 61 AS age, [{listed}][1 + i * 5 % 6]::step AS grade, i AS n
        FROM range(240) r(i)""")
    con.execute(f"""CREATE TABLE tree AS SELECT '{COLUMN.replace("'", "''")}' AS attribute,
        w AS value, l AS level, [w, 'any'][1 + l] AS label
        FROM (SELECT unnest([{listed}]) AS w), range(2) r(l) WHERE w <> '*'
        UNION ALL SELECT 'age', n::VARCHAR, l, [n::VARCHAR, 'any'][1 + l]
        FROM range(61) s(n), range(2) r(l)""")
    return con


def covered(label):
    """Return the values that a label stands for, None for NULL, read without the package."""
    if label is None:
        return {None}
    if label == "*":
        return {*WORDS, None}
    ends = grammar.bounds(label)
    if ends is None:
        return {*(grammar.values(label) or [])}
    low, high = map(WORDS.index, ends)
    assert low < high
    return set(WORDS[low : high + 1])


@pytest.mark.parametrize("method", [name for name in METHODS if name not in WITHOUT])
def test_labels_are_the_narrowest_ranges_by_the_declared_order(table, method):
    table.execute(f"DELETE FROM t WHERE {QUOTED} IS NULL AND age < 40")  # so that few classes are *
    table.execute(f"CREATE TABLE r AS FROM {method}('t', k := 40, {CALL})")
    classes = table.execute(f"""SELECT r.{QUOTED}, list(t.{QUOTED}), count(*)
        FROM r JOIN t USING (n) GROUP BY r.{QUOTED}, r.age""").fetchall()
    for label, values, rows in classes:
        assert rows >= 40
        assert set(values) <= covered(label)
        if label is not None and label.startswith("["):
            assert {*grammar.bounds(label)} <= set(values)
    assert any(label is not None and label.startswith("[") for label, *_ in classes)


def test_full_domain_has_wider_and_wider_ranges(table):
    table.execute(f"DELETE FROM t WHERE {QUOTED} IS NULL")
    made = table.execute(
        f"SELECT DISTINCT {QUOTED} FROM full_domain('t', k := 60, quasi := $quasi, "
        "keep := ['age', 'grade', 'n'], ordered := $quasi)",
        {"quasi": [COLUMN]},
    ).fetchall()
    ranges = {"[very low, low]", "[medium, 'high, or so']", "['*', 'it\\'s [x]']"}
    assert {label for (label,) in made} == ranges


def test_sdka_adds_rows_and_shows_one_value_for_numbers(table):
    for numbers in ("range", "centre"):
        made = table.execute(
            f"SELECT DISTINCT {QUOTED} FROM sdka('t', k := 9, {CALL}, generator := 'bootstrap', "
            f"numbers := '{numbers}')"
        ).fetchall()
        ranges = [label for (label,) in made if label is not None and label.startswith("[")]
        assert bool(ranges) == (numbers == "range")


def test_the_audit_the_loss_and_t_go_by_the_order(table):
    table.execute(f"CREATE TABLE r AS FROM rayden('t', k := 9, t := 0.2, {CALL})")
    found = dict(
        table.execute(f"""SELECT property, passed FROM audit('t', 'r', 9, t := 0.2, {ROLES},
        keep := 'n', ordered := ['grade'])""").fetchall()
    )
    right = ("k", "t", "true_labels", "covered_rows", "matched_rows", "label_spelling")
    assert [found[name] for name in right] == [True] * len(right)
    labels = table.execute(f"SELECT {QUOTED} FROM r").fetchall()
    nulls = {"*": 1.0, None: 0.0}
    losses = [
        nulls[label]
        if label in nulls
        else (max(map(WORDS.index, covered(label))) - min(map(WORDS.index, covered(label)))) / 5
        for (label,) in labels
    ]
    ((loss,),) = table.execute(
        f"SELECT ncp FROM attribute_loss('t', 'r', {ROLES.partition(', sens')[0]})"
        " WHERE attribute <> 'age'"
    ).fetchall()
    assert loss == pytest.approx(sum(losses) / len(losses))
    assert any(0 < each < 1 for each in losses)


def test_t_is_the_earth_movers_distance_over_positions(table):
    table.execute(f"CREATE TABLE r AS FROM rayden('t', k := 9, {CALL})")
    rows = table.execute(f"SELECT {QUOTED}, age, grade FROM r").fetchall()
    whole = [sum(row[2] == word for row in rows) / len(rows) for word in WORDS]
    worst = {"ordered": 0.0, "equal": 0.0}
    for key in {row[:2] for row in rows}:
        grades = [row[2] for row in rows if row[:2] == key]
        gaps = [grades.count(w) / len(grades) - p for w, p in zip(WORDS, whole, strict=True)]
        moved = [abs(sum(gaps[: i + 1])) for i in range(len(gaps) - 1)]
        worst["ordered"] = max(worst["ordered"], sum(moved) / 5)
        worst["equal"] = max(worst["equal"], sum(map(abs, gaps)) / 2)
    quasi = ROLES.partition(", sens")[0]
    ((by_order, by_equal),) = table.execute(
        f"SELECT t_closeness('t', 'r', 'grade', {quasi}, ordered := 'grade'), "
        f"t_closeness('t', 'r', 'grade', {quasi})"
    ).fetchall()
    assert by_order == pytest.approx(worst["ordered"])
    assert by_equal == pytest.approx(worst["equal"])
    assert by_order < by_equal


def test_a_label_tampered_with_is_found(table):
    table.execute(f"CREATE TABLE r AS FROM rayden('t', k := 9, {CALL})")
    table.execute(f"UPDATE r SET {QUOTED} = '[low, medium]' WHERE {QUOTED} = '[very low, medium]'")
    table.execute(f"UPDATE r SET {QUOTED} = '[medium, low]' WHERE {QUOTED} = 'low'")
    names = "('true_labels', 'label_spelling')"
    found = table.execute(
        f"SELECT property, passed FROM audit('t', 'r', 9, {ROLES}) WHERE property IN {names}"
    )
    assert dict(found.fetchall()) == {"true_labels": False, "label_spelling": False}


@pytest.mark.parametrize("form", ["mean", "median"])
def test_averages_of_numbers_show_the_same_ranges(table, form):
    """A class has the labels that it has in the format 'label'; k does not suffer."""
    table.execute(f"CREATE TABLE r AS FROM rayden('t', k := 9, {CALL}, format := '{form}')")
    labels = {label for (label,) in table.execute(f"SELECT {QUOTED} FROM r").fetchall()}
    assert any(label is not None and label.startswith("[") for label in labels)


def test_a_midpoint_is_the_value_of_a_class_that_has_only_one(table):
    for form in ("label", "midpoint"):
        table.execute(
            f"CREATE TABLE {form} AS FROM rayden('t', k := 9, {CALL}, format := '{form}')"
        )
    pairs = table.execute(
        f"SELECT l.{QUOTED}, m.{QUOTED} FROM label l JOIN midpoint m USING (n)"
    ).fetchall()
    for label, shown in pairs:
        values = covered(label)
        assert shown == (next(iter(values)) if len(values) == 1 else None)


def test_a_hierarchy_wins(table):
    table.execute("DELETE FROM t WHERE grade = '*' OR n IN (SELECT n FROM t WHERE age IS NULL)")
    table.execute(f"DELETE FROM t WHERE {QUOTED} = '*'")
    made = table.execute(
        f"SELECT DISTINCT {QUOTED} FROM datafly('t', k := 40, {CALL}, hierarchy := 'tree')"
    ).fetchall()
    assert not any(label is not None and label.startswith("[") for (label,) in made)


def test_conditions_go_by_the_values_of_a_range(table):
    """A range counts as a set of the values that it covers."""
    table.execute(f"DELETE FROM t WHERE {QUOTED} IS NULL")
    table.execute(f"CREATE TABLE r AS FROM rayden('t', k := 9, {CALL})")
    query = f"SELECT count(*) FROM t WHERE {QUOTED} = 'medium'"
    ((truth,),) = table.execute(query).fetchall()
    quasi = ROLES.partition(", sens")[0]
    found = table.execute(f"FROM query_error('t', 'r', [$q], {quasi})", {"q": query}).fetchall()
    described = [column[0] for column in table.description]
    row = dict(zip(described, found[0], strict=True))
    expected = 0.0
    for (label,) in table.execute(f"SELECT {QUOTED} FROM r").fetchall():
        values = covered(label)
        expected += ("medium" in values) / len(values)
    assert truth == row["actual"]
    assert row["estimate"] == pytest.approx(expected)


SENTENCES = {
    "quasi := ['age'], sensitive := 'grade', exclude := ['stage ''\"', 'n'], ordered := 'age'": (
        "ordered must name columns of type ENUM, which declares the order, got age of type BIGINT; "
        "cast it to an ENUM"
    ),
    ROLES + ", keep := 'n', ordered := 'n'": (
        "ordered must name quasi-identifiers or sensitive columns, got 'n'"
    ),
    CALL + ", format := 'typed'": "format := 'typed' shows no ranges of ordered categories",
    CALL + ", bin_width := MAP {'stage ''\"': 2}": "bin_width must be of numbers, dates or times",
}


@pytest.mark.parametrize("call", SENTENCES)
def test_what_does_not_fit_is_said(table, call):
    assert SENTENCES[call] in fails(table, f"FROM rayden('t', k := 9, {call})")


def test_like_has_a_sentence(table):
    table.execute(f"CREATE TABLE earlier AS FROM full_domain('t', k := 9, {CALL})")
    again = f"FROM full_domain('t', k := 9, {CALL}, \"like\" := 'earlier')"
    assert "like must go without ordered" in fails(table, again)


def test_every_kind_of_frame_has_the_release_of_sql(table):
    expected = table.sql(f"FROM anonymize('t', k := 9, {CALL})").fetchall()
    frame = table.table("t").df()
    for name in (COLUMN, "grade"):
        frame[name] = pd.Categorical(frame[name], categories=[*WORDS, "never"], ordered=True)
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    kinds = {
        "pandas": (frame, lambda made: list(made.itertuples(index=False, name=None))),
        "Polars": (
            pl.from_arrow(arrow).with_columns(
                pl.col(COLUMN, "grade").cast(pl.String).cast(pl.Enum([*WORDS, "never"]))
            ),
            lambda made: made.rows(),
        ),
        "PyArrow": (arrow, lambda made: [tuple(row.values()) for row in made.to_pylist()]),
        "relation": (table.table("t"), lambda made: made.fetchall()),
    }
    key = repr
    for data, rows in kinds.values():
        made = frames.anonymize(
            data,
            k=9,
            quasi=[COLUMN, "age"],
            sensitive="grade",
            keep="n",
            ordered=[COLUMN, "grade"],
        )
        shown = [tuple(None if pd.isna(cell) else cell for cell in row) for row in rows(made)]
        assert sorted(shown, key=key) == sorted(expected, key=key)
    unordered = arrow.set_column(1, "age", arrow["age"])
    plain = unordered.set_column(0, COLUMN, arrow[COLUMN].cast(pa.string()).dictionary_encode())
    with pytest.raises(anon_sql.AnonError, match="make it an ordered categorical"):
        frames.anonymize(
            plain, k=9, quasi=[COLUMN, "age"], sensitive="grade", keep="n", ordered=[COLUMN]
        )


def test_a_manifest_states_the_order_and_is_verified_by_it(table, tmp_path):
    path, out = tmp_path / "t.duckdb", tmp_path / "out.csv"
    table.execute(f"ATTACH '{path}' AS file")
    table.execute("CREATE TYPE file.step AS ENUM ('a', 'c', 'b')")
    table.execute("""CREATE TABLE file.t AS SELECT ['a', 'c', 'b'][1 + i * 7 % 3]::file.step AS stage,
        i * 37 % 61 AS age, ['a', 'c', 'b'][1 + i * 5 % 3]::file.step AS grade
        FROM range(120) r(i)""")
    table.execute("DETACH file")
    raw = f"{path}:main.t"
    roles = ["--quasi", "stage,age", "--sensitive", "grade", "--ordered", "stage,grade"]
    made = run("release", raw, str(out), "--k", "12", "--t", "0.2", *roles, "--manifest")
    assert made.exit_code == 0, made.output
    stated = json.loads((tmp_path / "out.csv.anon.json").read_text())
    assert stated["parameters"]["ordered"] == ["stage", "grade"]
    checked = run("verify", str(out), "--raw", raw)
    assert checked.exit_code == 0, checked.output
    assert "holds    audit: t" in checked.output
    parts = tmp_path / "parts.parquet"
    refused = run("release", raw, str(parts), "--k", "12", *roles, "--parts", "2")
    assert refused.exit_code == 1
    assert "ordered must be left out of a release in parts" in " ".join(refused.output.split())


def test_the_text_of_a_range_is_read_back():
    words = ["", "*", "a, b", "NULL", " x ", "]", "'", "\\", "[", "é", "12"]
    for low, high in pairwise(words):
        assert grammar.bounds(grammar.of_range(low, high)) == (low, high)
    for wrong in ("[a]", "[a,b]", "[a, b", "[a, b]]", "[a, b, c]", "[, b]", "[a, ]"):
        with pytest.raises(ValueError, match=r"range|value|quote"):
            grammar.bounds(wrong)
