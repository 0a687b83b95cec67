"""What is no frame, or cannot be released, is refused in one sentence without values."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anon_sql import AnonError, frames

pytestmark = [pytest.mark.quick, pytest.mark.oldest]

CALL = {"k": 2, "quasi": ["age"], "keep": ["*"]}
AGES = pa.table({"age": [1, 2, 3, 4], "n": [5, 6, 7, 8]})


def refused(call):
    """Return the sentence of a refusal."""
    with pytest.raises(AnonError) as found:
        call()
    text = str(found.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (None, "data must be a pandas, Polars or PyArrow table, a relation of DuckDB, or the path of a Parquet or CSV file, got None"),
        ([1, 2], "got a builtins list"),
        ("people.txt", "data must be the path of a Parquet or CSV file, got 'people.txt'; its name ends in .parquet or .csv"),
        ("nowhere/people.csv", "data must be the path of a Parquet or CSV file, got 'people.csv', which does not exist"),
        (pa.table([[1, 2], [3, 4]], names=["age", "age"]), "each column needs a name of its own, got age, age; rename"),
        (pa.table({"age": [1], "AGE": [2]}), "each column needs a name of its own, got age, AGE; rename"),
        (pd.DataFrame([[1, 2]], columns=["age", "age"]), "each column needs a name of its own"),
        (pa.table({"age": [1], "__anon_x": [2]}), "column names must not begin with __anon_"),
        (pd.DataFrame({"age": [1, 2], 7: [1, 2]}), "the names of columns must be text, got a int; rename them"),
        (pd.DataFrame({"age": [1, 2], "n": [1, "secret"]}), "the values of a column must be of one type, got several or another in n; cast it, for instance with astype(str), or drop it"),
        (pd.DataFrame({"age": [1, 2], "n": [1 + 2j, 3j]}), "n"),
        (pl.DataFrame({"age": [1, 2], "n": pl.Series([object(), 1], dtype=pl.Object)}), "every column must have a type that Arrow has, got n of type Object; cast or drop it"),
        (pl.LazyFrame({"age": ["secret"]}).select(pl.col("age").cast(pl.Int64)), "a lazy frame must be one that can be collected, got one that fails with InvalidOperationError"),
        (pa.table({"age": [[1], [2]], "n": [1, 2]}), "age"),
    ],
)  # fmt: skip
def test_data_that_cannot_be_released(data, text):
    said = refused(lambda: frames.anonymize(data, **CALL))
    assert said.startswith("anonymize: ")
    assert text in said
    assert "secret" not in said


@pytest.mark.parametrize(
    "name", ["people.jsonl", "folder/people.SAV", "people.ndjson.gz", "p.xlsx"]
)
def test_a_file_that_only_recipes_and_commands_read(name, tmp_path):
    shown = name.rpartition("/")[2]
    text = (
        f"must be the path of a Parquet or CSV file, got '{shown}'; write a recipe for it with "
        "'anon-sql roles FILE --recipe PATH', and release it with anon_sql.recipe or "
        "'anon-sql release'"
    )
    for path in (name, tmp_path / name):
        assert (
            refused(lambda path=path: frames.anonymize(path, **CALL)) == f"anonymize: data {text}"
        )
    said = refused(lambda: frames.gcp(AGES, released=name, quasi=["age"]))
    assert said.endswith(text)


def test_a_file_that_is_none(tmp_path):
    path = tmp_path / "people.parquet"
    path.write_text("age,n\n1,2\n", encoding="utf-8")
    said = refused(lambda: frames.anonymize(path, **CALL))
    assert said.startswith("anonymize: data must be a Parquet file, got other content")
    assert str(tmp_path) not in said
    assert refused(lambda: frames.anonymize(tmp_path, **CALL)).startswith("anonymize: data must be")


def test_a_file_with_two_columns_of_one_name_is_refused(tmp_path):
    """DuckDB would read the second one as AGE_1, which has no role."""
    path = tmp_path / "names.parquet"
    for names in (["age", "AGE"], ["age", "age"]):
        pq.write_table(pa.table([[1, 2, 3], ["a", "b", "c"]], names), path, store_schema=False)
        said = refused(lambda: frames.anonymize(path, **CALL))
        assert (
            said
            == f"anonymize: each column needs a name of its own, got {', '.join(names)}; rename"
        )
    path = tmp_path / "names.csv"
    path.write_text("age,AGE\n" + "1,a\n2,b\n" * 9)
    said = refused(lambda: frames.anonymize(path, **CALL))
    assert said.startswith("anonymize: each column needs a name of its own, got age, AGE_1, which")
    assert "secret" not in said


def test_a_file_that_is_not_what_its_name_says_is_refused(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text('{"age": 18, "name": "secret"}\n{"age": 19, "name": "secret"}\n')
    said = "anonymize: data must be a CSV file, got JSON; convert it to CSV or Parquet"
    assert refused(lambda: frames.anonymize(path, **CALL)) == said
    other = tmp_path / "people.parquet"
    path.rename(other)
    said = "anonymize: data must be a Parquet file, got other content in 'people.parquet'"
    assert refused(lambda: frames.anonymize(other, **CALL)) == said


def test_no_rows_give_none():
    made = frames.anonymize(AGES.slice(0, 0), **CALL)
    assert made.schema.names == ["age", "n"]
    assert made.num_rows == 0


def test_more_than_one_type_of_mistake_in_a_call():
    assert refused(lambda: frames.anonymize(AGES, k=9, quasi="age", keep="*")).startswith(
        "anonymize: k must be at most the number of rows, 4, got k=9"
    )
    said = refused(lambda: frames.anonymize(AGES, k=2, quasi="age"))
    assert said == (
        "anonymize: every column needs a role, got no role for n; name it in identifiers, quasi, "
        "sensitive or keep, or pass keep=['*'] to release all of them as they are"
    )
    assert "effort must be one of" in refused(lambda: frames.anonymize(AGES, **CALL, effort="x"))
    with pytest.raises(TypeError, match="unexpected keyword argument 'kk'"):
        frames.anonymize(AGES, kk=2)


def test_settings_that_are_none(people):
    assert "threads must be a whole number of at least 1" in refused(
        lambda: frames.anonymize(AGES, **CALL, threads=0)
    )
    assert "time_zone must be a time zone that DuckDB knows" in refused(
        lambda: frames.anonymize(AGES, **CALL, time_zone="Berlin")
    )
    assert "connection must be a connection of DuckDB, got str" in refused(
        lambda: frames.anonymize(AGES, **CALL, connection="people")
    )
    assert "hierarchy must be a frame, a file or a relation of a connection" in refused(
        lambda: frames.anonymize(AGES, **CALL, hierarchy="tree")
    )
    said = refused(lambda: frames.anonymize(AGES, **CALL, hierarchy="tree_", connection=people))
    assert said.startswith(
        "anonymize: the rows must be readable, got Catalog Error: Table with name tree_"
    )
    assert "must have the columns attribute, value, level and label" in refused(
        lambda: frames.anonymize(AGES, **CALL, hierarchy=AGES)
    )


def test_a_released_frame_as_the_raw_one():
    released = frames.anonymize(AGES, **CALL)
    said = refused(lambda: frames.gcp(released, AGES, quasi="age"))
    assert said.startswith("gcp: ")
    assert "the raw table" in said
    assert "anon_frame" not in said


def test_names_of_views_are_not_shown():
    said = refused(lambda: frames.gcp(AGES, AGES.drop(["age"]), quasi="age"))
    assert "anon_frame" not in said


def test_a_relation_that_fails(con):
    con.execute("CREATE TABLE t AS SELECT 'secret' AS age, 1 AS n FROM range(4)")
    said = refused(lambda: frames.anonymize(con.sql("SELECT age::INT AS age, n FROM t"), **CALL))
    assert said.startswith("anonymize: the rows must be readable, got Conversion Error")
    assert "secret" not in said
