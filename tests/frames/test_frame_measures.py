"""Measures, checks, attacks and suggestions of frames are those of SQL."""

import ast
import inspect
import pickle
import subprocess
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import anon_sql
from anon_sql import frames
from anon_sql.core.parameters import declared, takes
from anon_sql.hosts.duckdb.sql_files import entries
from tests.frames.conftest import PEOPLE
from tests.frames.sql import as_sql

CALL = {"k": 4, "quasi": ["age", "city"], "keep": ["person", "n", "*"]}
PAIRS = {
    "gcp": {"weights": {"age": 2}},
    "dm": {},
    "cavg": {"k": 4},
    "suppression_rate": {},
    "k_anonymity": {},
    "l_diversity": {"sensitive": "illness"},
    "t_closeness": {"sensitive": "illness"},
    "utility": {"k": 4},
    "attribute_loss": {},
    "equivalence_classes": {},
    "audit": {"k": 4, "l": 2, "sensitive": "illness"},
    "risk": {},
    "anon_manifest": {"k": 4, "method": "anonymize"},
    "attack_linking": {"sensitive": "illness"},
    "attack_homogeneity": {"sensitive": "illness"},
    "attack_inference": {"sensitive": "illness"},
    "attack_downcoding": {},
    "attack_minimality": {**CALL, "sensitive": "illness", "runs": 5},
    "query_error": {"queries": ["SELECT count(*) FROM raw WHERE age > 40"]},
}
TABLES = {
    "suggest_roles": {},
    "unique_combinations": {"max_columns": 2},
    "data_quality": {},
    "imbalance": {"sensitive": "illness"},
    "gower_ranges": {"quasi": ["age", "city"]},
    "anonymize_stats": CALL,
    "compare": {"methods": ["mondrian"], "ks": [4], **{n: CALL[n] for n in ("quasi", "keep")}},
    "cof_score": {"k": 4, "quasi": ["age", "city"]},
}


@pytest.fixture(scope="module")
def released():
    """Return the release of the table ``people``."""
    with anon_sql.connect() as con:
        con.execute(PEOPLE)
        return con.sql(as_sql("anonymize", "people", CALL)).to_arrow_table()


@pytest.fixture
def pair(people, released):
    """Return the table ``people`` and its release, as PyArrow tables and as tables of SQL."""
    people.execute("CREATE TABLE released AS FROM released")
    return people, [people.sql("FROM people").to_arrow_table(), released]


def rows_of(found):
    """Return rows in plain values and in one order, without the seconds that a method took."""
    return sorted(
        repr({name: value for name, value in row.items() if name not in ("seconds", "created")})
        for row in found.to_pylist()
    )


@pytest.mark.parametrize("function", PAIRS)
def test_a_measure_of_two_frames(pair, function):
    con, (raw, released) = pair
    arguments = {"quasi": ["age", "city"], **PAIRS[function]}
    made = getattr(frames, function)(raw, released, **arguments)
    call = as_sql(function, "people", arguments).replace("'people'", "'people', 'released'", 1)
    if isinstance(made, (int, float)):
        call = f"SELECT {call.removeprefix('FROM ')}"
        assert con.execute(call).fetchall() == [(made,)]
    else:
        assert rows_of(made) == rows_of(con.sql(call).to_arrow_table())


@pytest.mark.parametrize("function", TABLES)
def test_an_analysis_of_one_frame(pair, function):
    con, (raw, _) = pair
    made = getattr(frames, function)(raw, **TABLES[function])
    call = as_sql(function, "people", TABLES[function])
    if isinstance(made, dict):
        assert con.execute(f"SELECT {call.removeprefix('FROM ')}").fetchall() == [(made,)]
    else:
        assert rows_of(made) == rows_of(con.sql(call).to_arrow_table())


def test_the_result_is_of_the_kind_of_the_raw_table(pair):
    con, (raw, released) = pair
    one = frames.utility(raw.to_pandas(), released, quasi=["age", "city"])
    assert isinstance(one, pd.DataFrame)
    two = frames.utility(pl.from_arrow(raw).lazy(), released, quasi=["age", "city"])
    assert isinstance(two, pl.LazyFrame)
    made = frames.utility(con.sql("FROM people"), released.to_pandas(), quasi=["age", "city"])  # noqa: F841
    assert con.sql("FROM made").fetchall() == list(one.itertuples(index=False, name=None))


def test_several_releases_and_earlier_ones(pair):
    con, (raw, released) = pair
    call = {"id": "n", "sensitive": "illness", "quasi": ["age", "city"]}
    made = frames.composition(raw, [released, released.to_pandas()], **call)
    text = as_sql("composition", "people", call)
    text = text.replace("'people'", "'people', ['released', 'released']", 1)
    assert made.num_rows == con.sql(text).to_arrow_table().num_rows


def test_no_view_is_left(pair):
    from anon_sql.hosts.arrow.database import cursor, settings_of

    _, (raw, released) = pair
    frames.gcp(raw, released, quasi=["age", "city"])
    with cursor(settings_of("gcp", None, "UTC", None), "gcp") as con:
        left = "SELECT count(*) FROM duckdb_views() WHERE view_name LIKE 'anon_frame%'"
        assert con.execute(left).fetchall() == [(0,)]


def test_every_function_has_the_parameters_of_sql():
    own = {"threads", "time_zone", "connection"}
    for entry in entries():
        if entry.folder in ("reader", "pseudonym", "help", "linked") or entry.name in (
            "gower",
            "anonymize_recipe",
        ):
            assert not hasattr(frames, entry.name)
            continue
        found = inspect.signature(getattr(frames, entry.name)).parameters
        assert not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in found.values())
        names = {"data" if name == "tbl" else name.strip('"') for name in entry.names}
        assert {*found} - own == names, entry.name
        assert own <= {*found}
        if entry.name in declared():
            for name, one in takes(entry.name).items():
                assert name not in found or found[name].default == one.default
    hints = inspect.get_annotations(frames.anonymize, eval_str=True)
    assert hints["threads"] == int | None
    assert "effort: 'fast'" in frames.anonymize.__doc__
    assert pickle.loads(pickle.dumps(frames.anonymize)) is frames.anonymize


def test_an_unknown_name_is_a_type_error_with_the_nearest_one():
    with pytest.raises(TypeError, match=r"anonymize\(\) .*'sensitiv'; did you mean sensitive\?"):
        frames.anonymize(None, sensitiv="ill")
    with pytest.raises(TypeError, match=r"anonymize\(\) missing a required argument: 'data'"):
        frames.anonymize(k=3)
    with pytest.raises(AttributeError, match="no attribute 'anonymise'"):
        frames.anonymise  # noqa: B018
    assert {"anonymize", "gcp"} <= set(dir(frames))


def test_type_checkers_see_every_function(tmp_path):
    stub = ast.parse(Path(frames.__file__).with_suffix(".pyi").read_text("utf-8"))
    shown = {node.name: node for node in stub.body if isinstance(node, ast.FunctionDef)}
    assert set(shown) == set(frames.__all__)
    for name, node in shown.items():
        found = inspect.signature(getattr(frames, name)).parameters
        assert [each.arg for each in (*node.args.args, *node.args.kwonlyargs)] == [*found]
        assert ast.get_docstring(node) == inspect.getdoc(getattr(frames, name))
    called = tmp_path / "called.py"
    called.write_text(
        "import anon_sql\nfrom anon_sql import frames\n\n"
        "anon_sql.anonymize([], k=5, effort='fast')\n"
        "frames.rayden([], k='five')\nframes.gcp([], [], kk=3)\n"
    )
    mypy = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), str(called)]
    said = subprocess.run(mypy, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    assert "called.py:5" in said
    assert 'has incompatible type "str"; expected "int"' in said
    assert 'called.py:6: error: Unexpected keyword argument "kk" for "gcp"' in said
    assert "Found 2 errors" in said
