"""``dbt build`` of the example, and of models and tests that must fail, from a wheel."""

import re
import shutil
from pathlib import Path

import duckdb
import pytest

import anon_sql
from anon_sql import datasets
from anon_sql.apps import manifest
from tests import command
from tests.apps.dbt import environment as dbt_environment
from tests.apps.dbt.environment import EXAMPLE, LINKED_TABLES, NEW_PERSONS, ROOT

pytestmark = pytest.mark.slow

QUASI = ["age", "education_num", "marital_status", "sex"]
SEED = "person_id, age, education_num, marital_status, sex, occupation"


@pytest.fixture(scope="module")
def example(folder, environment):
    return dbt_environment.built(
        dbt_environment.made_once(
            folder / "dbt_example", lambda made: dbt_environment.build(environment, made)
        )
    )


@pytest.fixture(scope="module")
def refused(folder, environment, example):
    def make(made):
        added = Path(__file__).parent / "refused"
        profile = "      threads: 2\n      keep_open: false\n"
        dbt_environment.build(environment, made, added, profile=profile)

    return dbt_environment.built(dbt_environment.made_once(folder / "dbt_refused", make))


@pytest.fixture
def warehouse(example):
    with anon_sql.connect(example.database, read_only=True) as con:
        yield con


@pytest.fixture
def failures(refused):
    """The rows a failing test stored."""
    with anon_sql.connect(refused.database, read_only=True) as con:
        yield lambda test: con.sql(f'FROM main_dbt_test__audit."{test}" ORDER BY ALL')


def roles(con, relation):
    query = "SELECT column_name, role FROM anon_roles(?) WHERE role IS NOT NULL"
    return dict(con.execute(query, [relation]).fetchall())


def rows(con, query):
    return con.execute(f"FROM ({query}) ORDER BY ALL").fetchall()


def test_every_node_of_the_example_is_built(example):
    assert set(example.status.values()) == {"success", "pass"}
    assert len(example.status) == 9


def test_the_release_is_the_one_of_sql(warehouse):
    made = rows(warehouse, "FROM adult_released")
    assert len(made) > 400
    assert made == rows(warehouse, "FROM anonymize('adult', k := 10, l := 3, t := 0.6)")


@pytest.mark.parametrize("relation", ["adult_raw", "adult"])
def test_roles_of_schema_yml_are_in_the_comments_of_tables_and_views(warehouse, relation):
    assert roles(warehouse, relation) == {
        "person_id": "identifier",
        **dict.fromkeys(QUASI, "quasi"),
        "occupation": "sensitive",
    }


def test_measures_and_export(example, warehouse):
    measured = "SELECT smallest_class, l, t FROM adult_measures"
    assert rows(warehouse, measured) == rows(
        warehouse,
        "SELECT k_anonymity('adult', 'adult_released'), l_diversity('adult', 'adult_released'), "
        "t_closeness('adult', 'adult_released')",
    )
    exported = f"FROM '{example.folder / 'adult_released.parquet'}'"
    assert rows(warehouse, exported) == rows(warehouse, "FROM adult_released")


def test_the_manifest_beside_the_export_is_true(example, warehouse, tmp_path):
    raw, released = tmp_path / "adult.parquet", example.folder / "adult_released.parquet"
    warehouse.execute(f"COPY adult TO '{raw}'")
    written = manifest.read_manifest("test", manifest.beside(released))
    assert (written["method"], written["parameters"]["k"]) == ("anonymize", 10)
    assert str(example.folder) not in manifest.beside(released).read_text()
    result = command.run("verify", released, "--raw", raw)
    assert result.exit_code == 0, result.output


def test_a_manifest_names_the_earlier_releases_by_their_files(refused, tmp_path):
    first = refused.folder / "adult_released.parquet"
    raw, second = tmp_path / "adult.parquet", refused.folder / "adult_second.parquet"
    with anon_sql.connect(refused.database, read_only=True) as con:
        con.execute(f"COPY adult TO '{raw}'")
    stated = manifest.read_manifest("test", manifest.beside(second))["series"]
    assert stated == {
        "previous": [{"name": first.name, "sha256": manifest.digest(first)}],
        "previous_share": 1,
        "cohorts": None,
    }
    result = command.run("verify", second, "--raw", raw, "--previous", first)
    assert result.exit_code == 0, result.output
    assert "audit: intersection" in result.output


def test_the_warehouse_holds_tables_and_nothing_of_ours(example):
    with duckdb.connect(example.database, read_only=True) as con:
        macros = "FROM duckdb_functions() WHERE database_name = 'adult'"
        assert con.execute(macros).fetchall() == []


def test_the_seed_is_made_by_the_project(con):
    datasets.adult(con)
    seed = f"SELECT {SEED} FROM '{EXAMPLE / 'seeds' / 'adult_raw.csv'}'"
    made = "(SELECT 1000 + row_number() OVER () AS person_id, * FROM adult LIMIT 500)"
    assert con.execute(seed).fetchall() == con.execute(f"SELECT {SEED} FROM {made}").fetchall()


def test_k_anonymous_fails_with_the_small_classes(refused, failures):
    stored = failures("small")
    assert refused.status["small"] == "fail"
    assert not {"person_id", "occupation"} & set(stored.columns)
    with anon_sql.connect(refused.database, read_only=True) as con:
        classes = rows(
            con, f"SELECT {', '.join(QUASI)}, count(*) FROM loose GROUP BY ALL HAVING count(*) < 10"
        )
    assert classes
    assert stored.project(", ".join([*QUASI, "size"])).order("ALL").fetchall() == classes
    assert refused.status["whole"] == "pass"
    assert refused.status["filtered"] == "pass"


def test_rows_left_out_are_a_class_without_labels(failures):
    assert failures("left_out").project(", ".join([*QUASI, "size"])).fetchall() == [
        (None, None, None, None, 3)
    ]


def test_l_diverse_fails_with_the_least_diversity(refused, failures):
    assert refused.status["alike"] == "fail"
    with anon_sql.connect(refused.database, read_only=True) as con:
        least = con.execute(
            f"SELECT min(l) FROM (SELECT {', '.join(QUASI)}, "
            "count(DISTINCT occupation)::DOUBLE AS l FROM loose GROUP BY ALL)"
        ).fetchall()
    assert failures("alike").fetchall() == least
    assert failures("uneven").aggregate("count(*) > 0, max(l) < 2.5").fetchall() == [(True, True)]


def test_t_close_fails_with_the_largest_distance(refused, failures):
    assert refused.status["far"] == "fail"
    with anon_sql.connect(refused.database, read_only=True) as con:
        worst = con.execute("SELECT t_closeness('adult', 'loose')").fetchall()
    assert failures("far").fetchall() == worst


@pytest.mark.parametrize(
    ("test", "measure"), [("likelier", "beta_likeness"), ("disclosed", "delta_disclosure")]
)
def test_shares_that_grow_fail(refused, failures, test, measure):
    assert refused.status[test] == "fail"
    with anon_sql.connect(refused.database, read_only=True) as con:
        worst = con.execute(f"SELECT {measure}('adult', 'loose')").fetchall()
    assert failures(test).fetchall() == worst


def test_no_identifiers_fails_with_identifiers_and_their_copies(refused, failures):
    assert failures("named").fetchall() == [("person_id", "person_id"), ("visitor", "person_id")]
    assert failures("named_and_empty").fetchall() == [("person_id", "person_id")]
    assert failures("by_argument").fetchall() == [("age", "age")]
    assert refused.status["undeclared"] == "error"
    assert "the raw table must have roles" in refused.message["undeclared"]
    assert "executing the UDF" not in refused.message["undeclared"]


def test_roles_may_stand_in_the_test(refused, failures):
    assert refused.status["from_call"] == "pass"
    assert failures("far_from_call").columns == ["t"]
    assert refused.status["far_from_call"] == "fail"


def test_a_recipe_has_the_schema_of_a_model_or_says_what_differs(refused):
    assert refused.status["as_written"] == "pass"
    assert refused.status["not_as_written"] == "error"
    assert "every column of the recipe, got no column called" in refused.message["not_as_written"]


@pytest.mark.parametrize("test", ["nobody", "nobody_alike", "nobody_far"])
def test_an_empty_release_has_no_class(refused, test):
    assert refused.status[test] == "pass"


def test_persist_docs_keeps_the_roles(refused):
    with duckdb.connect(refused.database, read_only=True) as con:
        comments = con.execute(
            "SELECT column_name, comment FROM duckdb_columns() WHERE table_name = 'documented'"
        ).fetchall()
    assert dict(comments) == {
        "age": "In years. anon:quasi",
        "sex": "The person's own word.",
        "occupation": "anon:sensitive",
    }


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("misspelt", "got no column called persn_id"),
        ("unknown_role", "must be identifier, quasi, sensitive, keep or exclude, got quasy"),
        ("uncommitted", "comments count only where the relation is the committed table"),
    ],
)
def test_a_role_that_cannot_count_stops_the_model(refused, model, said):
    assert refused.status[model] == "error"
    assert said in refused.message[model]
    assert "executing the UDF" not in refused.message[model]
    with duckdb.connect(refused.database, read_only=True) as con:
        made = "SELECT table_name FROM duckdb_tables()"
        assert (model,) not in con.execute(made).fetchall()


@pytest.mark.parametrize(
    ("model", "sql"),
    [
        ("quoted", "FROM rayden('adult', k := 10)"),
        (
            "recent",
            "WITH young AS (SELECT age, sex, occupation FROM adult WHERE age < 40) "
            "FROM rayden('young', k := 5, quasi := ['age', 'sex'], sensitive := 'occupation', alpha := 1.5)",
        ),
        (
            "from_ephemeral",
            "WITH few AS (SELECT age, sex, occupation FROM adult) "
            "FROM rayden('few', k := 5, quasi := ['age', 'sex'], sensitive := 'occupation')",
        ),
    ],
)
def test_other_ways_to_name_a_relation(refused, model, sql):
    assert refused.status[model] == "success"
    with anon_sql.connect(refused.database, read_only=True) as con:
        assert rows(con, f"FROM {model}") == rows(con, sql)


def test_the_pages_show_the_examples():
    folder = ROOT / "docs" / "do"
    names = ("release-in-dbt.md", "release-again-in-dbt.md")
    page = "\n".join((folder / name).read_text(encoding="utf-8") for name in names)
    shown = re.findall(r"^`([\w/.]+)`:\n\n```\w+\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(shown) >= 8
    for name, block in shown:
        files = [project / name for project in (EXAMPLE, NEW_PERSONS, LINKED_TABLES)]
        assert any(block in file.read_text(encoding="utf-8") for file in files if file.exists()), (
            name
        )


def test_a_release_by_a_recipe_is_judged(refused):
    assert refused.status["judged_signed"] == "success", refused.message["judged_signed"]
    call = (
        "mondrian('adult', k := 10, l := 3, t := 0.6, identifiers := 'person_id', "
        f"quasi := {QUASI}, sensitive := 'occupation')"
    )
    with anon_sql.connect(refused.database, read_only=True) as con:
        assert rows(con, "FROM judged_signed") == rows(con, f"FROM {call}")
    assert refused.status["judged_red"] == "error"
    said = "recipe: not released, because the verdict is red (certain)"
    assert said in refused.message["judged_red"]
    with anon_sql.connect(refused.database, read_only=True) as con, pytest.raises(duckdb.Error):
        con.sql("FROM judged_red")


KEY = "0123456789 a secret key"
KEYED = {  # name: the build before it, and the key
    "first": ("without", KEY),
    "again": ("without", KEY),
    "other": ("without", "9876543210 another secret key"),
    "lost": ("first", None),
}


@pytest.fixture(scope="module")
def transparent(folder, environment):
    """The example with a transparent model, built without a key, with one twice, and with another."""

    def make(made):
        added = Path(__file__).parent / "transparent"
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("ANON_KEY", raising=False)
            dbt_environment.build(environment, made / "without", added)
            for name, (before, key) in KEYED.items():
                shutil.copytree(made / before, made / name)
                patch.delenv("ANON_KEY", raising=False)
                if key is not None:
                    patch.setenv("ANON_KEY", key)
                select = ("--select", "adult_transparent")
                dbt_environment.run_dbt(environment, made / name, "build", *select)

    made = dbt_environment.made_once(folder / "dbt_transparent", make)
    return {name: dbt_environment.built(made / name) for name in ("without", *KEYED)}


def test_a_transparent_model_is_the_same_at_each_build_with_the_key(transparent):
    made = {}
    for name in ("first", "again", "other"):
        assert transparent[name].status == {"adult_transparent": "success"}
        with anon_sql.connect(transparent[name].database, read_only=True) as con:
            made[name] = rows(con, "FROM adult_transparent")
            held = (
                "SELECT max_share('adult', 'adult_transparent') <= 0.5, count(*) = "
                "(SELECT count(*) FROM adult) FROM adult_transparent"
            )
            assert con.execute(held).fetchall() == [(True, True)]
            call = f"k := 5, l := 2, transparent := true, key := '{KEYED[name][1]}'"
            assert made[name] == rows(con, f"FROM anonymize('adult', {call})")
    assert made["first"] == made["again"] != made["other"]


def test_without_its_key_the_transparent_model_alone_fails(transparent):
    built = transparent["without"]
    assert built.status.pop("adult_transparent") == "error"
    assert set(built.status.values()) == {"success", "pass"}
    said = built.message["adult_transparent"]
    assert "the environment variable that key names must be set; pass key := " in said
    assert "executing the UDF" not in said
    with duckdb.connect(built.database, read_only=True) as con:
        made = con.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    assert ("adult_released",) in made
    assert ("adult_transparent",) not in made


def test_a_build_without_the_key_leaves_the_table_as_it_was(transparent):
    assert transparent["lost"].status == {"adult_transparent": "error"}
    found = []
    for name in ("first", "lost"):
        with anon_sql.connect(transparent[name].database, read_only=True) as con:
            found.append(rows(con, "FROM adult_transparent"))
    assert found[0] == found[1]


@pytest.mark.parametrize("name", KEYED)
def test_no_file_of_the_project_holds_the_key(transparent, name):
    files = [path for path in transparent[name].folder.rglob("*") if path.is_file()]
    assert any(path.name == "adult_transparent.sql" for path in files)
    assert not [path for path in files if b"secret key" in path.read_bytes()]
