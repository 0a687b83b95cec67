"""A release comes back in the kind of frame that was given, a measure as a number or that kind."""

import uuid
import warnings

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal

import anon_sql
from anon_sql import frames

pytestmark = pytest.mark.oldest

CALL = {"k": 4, "quasi": ["age", "city"], "keep": ["person", "n", "*"]}


@pytest.fixture
def rows(people):
    """Return the table ``people`` as a PyArrow table."""
    return people.sql("FROM people").to_arrow_table()


@pytest.fixture
def wanted(rows):
    """Return the release of ``rows``."""
    return frames.anonymize(rows, **CALL)


def test_the_one_name_at_the_top():
    assert anon_sql.anonymize is frames.anonymize
    assert "anonymize" in anon_sql.__all__


def test_pandas(people):
    frame = people.sql("FROM people").df()
    people.register("given", frame)
    wanted = people.sql(
        "FROM anonymize('given', k := 4, quasi := ['age', 'city'], keep := ['person', 'n', '*'])"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", anon_sql.AnonWarning)
        made = frames.anonymize(frame, **CALL)
    assert isinstance(made, pd.DataFrame)
    pd.testing.assert_frame_equal(made, wanted.df(), check_dtype=False)
    assert made.dtypes["n"] == frame.dtypes["n"]


def test_an_index_of_pandas_is_kept_out_and_said(rows):
    frame = rows.to_pandas()
    named = frame.set_index("person")
    with pytest.warns(UserWarning, match="the index of a DataFrame is left out") as said:
        made = frames.anonymize(named, **CALL | {"keep": ["n", "*"]})
    others = [each for each in said if each.category is not anon_sql.AnonWarning]
    assert len(others) == 1
    assert {each.filename for each in said} == {__file__}
    assert "person" not in made.columns
    assert list(made.index) == list(range(len(frame)))


def test_categories_and_nullable_types_of_pandas_are_kept(people):
    frame = people.sql("FROM people").df().astype({"n": "Int64", "illness": "category"})
    frame["city"] = frame["city"].astype("category")
    made = frames.anonymize(frame, **CALL)
    assert made.dtypes["n"] == "Int64"
    assert made.dtypes["illness"] == frame.dtypes["illness"]
    people.register("given", frame)
    sql = people.sql(
        "FROM anonymize('given', k := 4, quasi := ['age', 'city'], keep := ['person', 'n', '*'])"
    )
    assert made.city.astype(object).where(made.city.notna(), None).tolist() == [
        row[1] for row in sql.fetchall()
    ]


def test_nan_of_pandas_is_null_and_that_of_polars_is_none(people):
    frame = pd.DataFrame({"age": [1.0, float("nan")] * 4, "n": range(8)})
    made = frames.anonymize(frame, k=4, quasi="age", keep="n")
    assert made.age.isna().sum() == 4
    both = pl.DataFrame({"age": [1.0, None] * 4, "n": [1.0, float("nan")] * 4})
    made = frames.anonymize(both, k=4, quasi="age", keep="n")
    assert made["age"].null_count() == 4
    assert made["n"].is_nan().sum() == 4


def arrow_takes_uuids():
    """Older versions of PyArrow do not: DuckDB makes such values of a UUID in pandas."""
    try:
        return bool(pa.array([uuid.uuid4()]))
    except pa.ArrowException:
        return False


@pytest.mark.parametrize("form", ["label", "typed", "mean", "median", "midpoint"])
@pytest.mark.parametrize("kind", ["pandas", "pandas of PyArrow", "Polars"])
def test_released_values_of_every_type_are_those_checked(people, kind, form):
    """Each kind of frame is read back as Arrow for the check."""
    rows = people.sql("SELECT * EXCLUDE (span) FROM kinds")
    data = rows.pl() if kind == "Polars" else rows.df()
    if kind != "Polars" and not arrow_takes_uuids():
        data = data.drop(columns="id")
    if kind == "pandas of PyArrow":
        data = data.convert_dtypes(dtype_backend="pyarrow")
    for quasi in (
        ["number", "born", "pay"],
        ["member", "score", "seen"],
        ["zoned", "clock", "word"],
    ):
        unlike = {"listed", "packed", "mapped", "id", "bytes"} & {*data.columns}
        made = frames.anonymize(data, k=4, quasi=quasi, keep=[*unlike, "*"], format=form)
        assert len(made) == len(data)
        assert list(made.columns) == list(data.columns)


@pytest.mark.parametrize("lazy", [False, True])
def test_polars(rows, wanted, lazy):
    frame = pl.from_arrow(rows)
    made = frames.anonymize(frame.lazy() if lazy else frame, **CALL)
    assert isinstance(made, pl.LazyFrame if lazy else pl.DataFrame)
    assert_frame_equal(made.lazy().collect(), pl.from_arrow(wanted))


def test_types_of_polars_are_kept():
    frame = pl.DataFrame(
        {"age": [1, 2] * 4, "kind": ["a", "b"] * 4, "parts": [[1], None] * 4},
        schema={"age": pl.Int16, "kind": pl.Enum(["a", "b"]), "parts": pl.List(pl.Int8)},
    )
    made = frames.anonymize(frame, k=2, quasi="age", keep=["parts", "*"])
    assert made.schema["kind"] == frame.schema["kind"]
    assert made.schema["parts"] == frame.schema["parts"]


def test_arrow_keeps_its_types(rows):
    sent = rows.set_column(2, "illness", rows["illness"].cast(pa.large_string()))
    sent = sent.set_column(4, "n", sent["n"].cast(pa.uint16()))
    made = frames.anonymize(sent, **CALL)
    assert made.schema.field("illness").type == pa.large_string()
    assert made.schema.field("n").type == pa.uint16()


def test_a_relation_can_be_joined_with_the_one_given(people):
    given = people.sql("FROM people")
    made = frames.anonymize(given, **CALL)
    joined = people.sql("SELECT count(*) FROM made JOIN people USING (n)")
    assert joined.fetchall() == [(280,)]
    assert made.set_alias("m").join(given.set_alias("g"), "m.n = g.n").count("*").fetchall() == [
        (280,)
    ]
    people.execute("SET python_enable_replacements = false")
    with pytest.raises(anon_sql.AnonError, match=r"pass its connection as connection="):
        frames.anonymize(given, **CALL)
    again = frames.anonymize(given, **CALL, connection=people)
    people.execute("RESET python_enable_replacements")
    assert again.fetchall() == made.fetchall()
    assert people.sql("SELECT count(*) FROM duckdb_views() WHERE NOT internal").fetchall() == [(0,)]


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".csv.gz"])
def test_a_path_gives_a_pyarrow_table(people, tmp_path, ending):
    path = tmp_path / f"people{ending}"
    people.execute(f"COPY people TO '{path}'")
    call = "k := 4, quasi := ['age', 'city'], keep := ['person', 'n', '*']"
    wanted = people.sql(f"FROM anonymize('{path}', {call})")
    for given in (path, str(path)):
        made = frames.anonymize(given, **CALL)
        assert isinstance(made, pa.Table)
        assert made.to_pylist() == wanted.to_arrow_table().to_pylist()


def test_roles_of_arrow_fields(rows, tmp_path):
    """They are those of comments in SQL; a Parquet file keeps them."""
    tags = {"age": "quasi", "city": "quasi", "person": "identifier", "illness": "sensitive"}
    tags |= {"n": "keep", "class_id": "keep"}
    schema = pa.schema(
        [
            field.with_metadata({"comment": f"Note. anon:{tags[field.name]}"})
            for field in rows.schema
        ]
    )
    said = rows.cast(schema)
    wanted = frames.anonymize(
        rows, k=4, l=2, quasi=["age", "city"], identifiers="person", sensitive="illness",
        keep=["n", "class_id"],
    )  # fmt: skip
    assert frames.anonymize(said, k=4, l=2).equals(wanted)
    pq.write_table(said, tmp_path / "said.parquet")
    assert frames.anonymize(tmp_path / "said.parquet", k=4, l=2).equals(wanted)
    assert frames.gcp(said, wanted) == frames.gcp(rows, wanted, quasi=["age", "city"])
    roles = frames.anon_roles(said).to_pylist()
    assert {row["column_name"]: row["role"] for row in roles} == tags


def test_a_wrong_tag_is_refused(rows):
    field = rows.schema.field("age").with_metadata({"comment": "anon:qusi"})
    with pytest.raises(anon_sql.AnonError, match="the comment on column age is not clear"):
        frames.anonymize(rows.cast(rows.schema.set(0, field)), **CALL)


def test_threads_do_not_change_a_release(rows, wanted):
    assert frames.anonymize(rows, **CALL, threads=1).equals(wanted)
    assert frames.anonymize(rows, **CALL, threads=3).equals(wanted)


def test_hierarchies_of_every_kind(people, rows, tmp_path):
    tree = people.sql("FROM tree")
    path = tmp_path / "tree.csv"
    people.execute(f"COPY tree TO '{path}'")
    wanted = frames.datafly(rows, **CALL, hierarchy="tree", connection=people)
    for given in (tree, tree.to_arrow_table(), tree.df(), tree.pl(), str(path)):
        assert frames.datafly(rows, **CALL, hierarchy=given).equals(wanted)
    made = frames.numeric_hierarchy(rows, "age", widths=[10, 20])
    assert isinstance(made, pa.Table)
    assert (
        frames.datafly(rows, k=4, quasi="age", keep=["person", "n", "*"], hierarchy=made).num_rows
        == 280
    )
