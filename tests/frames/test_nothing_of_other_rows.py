"""A released frame holds nothing of other rows: no category, and no text in its memory."""

import io
import pickle

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from anon_sql import AnonError, frames

NAMES = [f"name {i * 7 % 5}" for i in range(60)]  # first 0, then 2, 4, 1, 3
GONE = "name 2"


def frame_of(kind):
    """Return rows whose column has a category of rows that were removed, as it first came."""
    ages = [20 + i % 4 for i in range(60)]
    if kind.startswith("pandas"):
        name = pd.Categorical(NAMES, categories=pd.unique(pd.Series(NAMES)))
        rows = pd.DataFrame({"age": ages, "name": name})
        if kind == "pandas, ordered":
            rows["name"] = rows["name"].cat.as_ordered()
        if kind == "pandas of PyArrow":
            coded = pa.chunked_array([pa.array(NAMES).dictionary_encode()])
            rows["name"] = pd.arrays.ArrowExtensionArray(coded)
        return rows[rows.name != GONE].reset_index(drop=True)
    if kind.startswith("Polars"):
        words = list(dict.fromkeys(NAMES))
        of = pl.Enum(words) if kind == "Polars, Enum" else pl.Categorical
        rows = pl.DataFrame({"age": ages, "name": NAMES}).with_columns(pl.col("name").cast(of))
        return rows.filter(pl.col("name") != GONE)
    table = pa.table({"age": ages, "name": pa.array(NAMES).dictionary_encode()})
    return table.filter(pa.array([name != GONE for name in NAMES]))


KINDS = [
    *("pandas", "pandas, ordered", "pandas of PyArrow"),
    *("Polars, Enum", "Polars, Categorical", "PyArrow"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_categories_of_rows_that_are_not_released_do_not_leave(kind, tmp_path):
    given = frame_of(kind)
    made = frames.anonymize(given, k=4, quasi="age", keep="name")
    if kind.startswith("pandas"):
        stored = pickle.dumps(made)
        assert GONE.encode() in pickle.dumps(given)
        names = made["name"].astype(object).tolist()
    elif kind.startswith("Polars"):
        made.write_parquet(tmp_path / "made.parquet")
        stored = (tmp_path / "made.parquet").read_bytes()
        names = made["name"].to_list()
    else:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, made.schema) as writer:
            writer.write_table(made)
        stored, names = sink.getvalue().to_pybytes(), made["name"].to_pylist()
    assert GONE.encode() not in stored
    assert sorted(names) == sorted(name for name in NAMES if name != GONE)


def test_categories_stand_as_they_first_occur_in_the_release_unless_ordered():
    """The order in which rows once came is not told by that of the categories."""
    for kind in KINDS:
        made = frames.anonymize(frame_of(kind), k=4, quasi="age", keep="name")
        if kind.startswith("pandas") and kind != "pandas of PyArrow":
            names, found = made["name"].tolist(), made["name"].cat.categories.tolist()
        elif kind == "PyArrow":
            names, found = made["name"].to_pylist(), made["name"].chunk(0).dictionary.to_pylist()
        elif kind == "Polars, Enum":
            names, found = made["name"].to_list(), made["name"].dtype.categories.to_list()
        else:
            continue
        ordered = kind in ("pandas, ordered", "Polars, Enum")
        came = [name for name in dict.fromkeys(NAMES) if name != GONE]
        assert found == (came if ordered else list(dict.fromkeys(names))), kind


def test_a_column_whose_values_are_all_missing_has_no_category():
    missing = pd.DataFrame({"age": [20] * 8, "name": pd.Categorical([None] * 8, ["a", "b"])})
    made = frames.anonymize(missing, k=4, quasi="age", keep="name")
    assert made["name"].isna().all()
    assert made["name"].cat.categories.tolist() == []
    given = pl.from_pandas(missing).with_columns(pl.col("name").cast(pl.Enum(["a", "b"])))
    made = frames.anonymize(given, k=4, quasi="age", keep="name")
    assert made["name"].null_count() == 8
    assert made["name"].dtype.categories.to_list() == []


TEXTS = [f"a text that is long enough {i:03}" for i in range(60)]
KEPT = {
    "text": TEXTS,
    "bytes": [text.encode() for text in TEXTS],
    "list": [[text, None] for text in TEXTS],
    "struct": [{"a": text, "b": 1} for text in TEXTS],
}


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("kind", ["pandas", "pandas of PyArrow", "Polars", "PyArrow"])
def test_text_of_rows_that_were_removed_is_not_in_the_memory_of_a_release(kind, kept):
    """Frames share memory; files, and pickles, may hold all of it."""
    whole = pa.table({"age": [20 + i % 4 for i in range(60)], "kept": KEPT[kept]})
    rows = whole.filter(pa.array([text != TEXTS[7] for text in TEXTS]))
    if kind == "Polars":
        rows = pl.from_arrow(whole).filter(pl.Series([text != TEXTS[7] for text in TEXTS]))
        assert kept in ("list", "struct") or TEXTS[7].encode() in pickle.dumps(rows)
    elif kind != "PyArrow":
        mapper = pd.ArrowDtype if kind == "pandas of PyArrow" else None
        rows = rows.to_pandas(types_mapper=mapper)
    made = frames.anonymize(rows, k=4, quasi="age", keep="kept")
    stored = [pickle.dumps(made)]
    if kind == "Polars":
        made.write_ipc(file := io.BytesIO())
        stored.append(file.getvalue())
        assert made.schema["kept"] == rows.schema["kept"]
    assert all(TEXTS[7].encode() not in each for each in stored)
    assert all(TEXTS[8].encode() in each for each in stored)


def within(shape, values):
    """Return rows of Arrow that hold each value within another type, the last row without any."""
    gone = pa.array([False] * 59 + [True])
    ends = pa.array([*range(59), None, 60], pa.int32())
    keys = pa.array([f"key {i % 3}" for i in range(60)])
    return {
        "list": lambda: pa.ListArray.from_arrays(ends, values),
        "large list": lambda: pa.LargeListArray.from_arrays(ends.cast(pa.int64()), values),
        "list view": lambda: pa.ListViewArray.from_arrays(ends[:60], pa.array([1] * 60), values),
        "struct": lambda: pa.StructArray.from_arrays([values, keys], ["a", "b"], mask=gone),
        "map": lambda: pa.MapArray.from_arrays(ends, keys, values),
        "keys of a map": lambda: pa.MapArray.from_arrays(ends, values, keys),
        "list of structs": lambda: pa.ListArray.from_arrays(
            ends, pa.StructArray.from_arrays([values], ["a"])
        ),
        "map in a struct": lambda: pa.StructArray.from_arrays(
            [pa.MapArray.from_arrays(range(61), keys, values)],
            ["a"],
            mask=pa.array([i % 30 == 29 for i in range(60)]),
        ),
        "fixed size": lambda: pa.FixedSizeListArray.from_arrays(values, 1),
    }[shape]()


SHAPES = ["list", "large list", "list view", "struct", "map", "keys of a map", "list of structs"]
SHAPES.append("map in a struct")


def without_gone(shape):
    values = within(shape, pa.array(NAMES).dictionary_encode())
    table = pa.table({"age": [20 + i % 4 for i in range(len(values))], "name": values})
    return table.filter(pa.array([name != GONE for name in NAMES]))


@pytest.mark.parametrize("kind", ["PyArrow", "pandas"])
@pytest.mark.parametrize("shape", SHAPES)
def test_categories_within_other_types_do_not_leave(shape, kind):
    table = without_gone(shape)
    given = table if kind == "PyArrow" else table.to_pandas(types_mapper=pd.ArrowDtype)
    assert GONE.encode() in pickle.dumps(given)
    made = frames.anonymize(given, k=4, quasi="age", keep="name")
    stored = pickle.dumps(made)
    assert GONE.encode() not in stored
    assert NAMES[0].encode() in stored
    if kind == "pandas":
        made = pa.Table.from_pandas(made)
    assert made.schema.field("name").type == table.schema.field("name").type
    assert sorted(map(str, made["name"].to_pylist())) == sorted(map(str, table["name"].to_pylist()))


@pytest.mark.parametrize("of", ["Enum", "Categorical"])
@pytest.mark.parametrize("shape", ["list", "struct", "list of structs"])
def test_categories_within_other_types_of_polars_do_not_leave(shape, of):
    words = list(dict.fromkeys(NAMES))
    inner = pl.Enum(words) if of == "Enum" else pl.Categorical
    kinds = {
        "list": pl.List(inner),
        "struct": pl.Struct({"a": inner, "b": pl.String}),
        "list of structs": pl.List(pl.Struct({"a": inner})),
    }
    plain = pl.from_arrow(pa.table({"name": within(shape, pa.array(NAMES))}))
    rows = plain.with_columns(pl.col("name").cast(kinds[shape]), age=pl.Series(range(60)) % 4)
    given = rows.filter(pl.Series([name != GONE for name in NAMES]))
    made = frames.anonymize(given, k=4, quasi="age", keep="name")
    stored = [pickle.dumps(made)]
    for write in (made.write_ipc, made.write_parquet):
        write(file := io.BytesIO())
        stored.append(file.getvalue())
    assert of == "Categorical" or GONE.encode() in pickle.dumps(given)
    assert all(GONE.encode() not in each for each in stored)
    assert all(NAMES[0].encode() in each for each in stored)
    names = [made["name"].to_list(), given["name"].to_list()]
    assert sorted(map(str, names[0])) == sorted(map(str, names[1]))


def test_categories_that_duckdb_misreads_are_refused():
    """In lists of fixed size it reads their codes as texts, also of memory that is not theirs."""
    given = without_gone("fixed size")
    polars = pl.from_arrow(pa.table({"age": given["age"]})).with_columns(
        name=pl.Series([["a"]] * len(given), dtype=pl.Array(pl.Enum(["a"]), 1))
    )
    names = pa.array(["a"] * len(given)).dictionary_encode()
    union = pa.UnionArray.from_sparse(pa.array([0] * len(given), pa.int8()), [names])
    listed = pa.table({"age": given["age"], "name": union})
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([len(given)], pa.int32()), names[:1])
    encoded = pa.table({"age": given["age"], "name": runs})
    for rows in (given, given.to_pandas(types_mapper=pd.ArrowDtype), polars, listed, encoded):
        with pytest.raises(AnonError) as raised:
            frames.anonymize(rows, k=4, quasi="age", keep="name")
        assert str(raised.value).startswith(
            "anonymize: lists of fixed size, runs and unions must hold no categories, got name of type "
        )
        with pytest.raises(AnonError, match="must hold no categories"):
            frames.audit(rows, rows, k=4, quasi="age", keep="name")
