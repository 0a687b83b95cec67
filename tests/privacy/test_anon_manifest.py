"""What a manifest says is what the functions say, and it holds no value."""

import json

import pytest

from anon_sql.apps.manifest import LEVELS
from anon_sql.privacy import VALUE_MODELS

ROLES = "quasi := ['age', 'city', 'sex', 'born']"


@pytest.fixture
def release(many_people):
    people = many_people
    people.execute("CREATE TABLE release AS FROM mondrian('people', k := 5)")
    return people


def manifest(con, arguments=""):
    query = f"SELECT to_json(made) FROM anon_manifest('people', 'release'{arguments}) AS made"
    return json.loads(con.execute(query).fetchall()[0][0])


def rows(con, sql):
    result = con.execute(sql)
    names = [name for name, *_ in result.description]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def test_measures_and_checks_are_those_of_the_functions(release):
    release.execute("SET threads = 1")  # else two queries may add in another order
    made = manifest(release, ", 'mondrian', k := 5, l := 2, t := 0.4, seed := 42")
    checks = rows(
        release,
        "SELECT property, required, found, passed FROM audit('people', 'release', 5, 2, 0.4)",
    )
    assert made["checks"] == checks
    (measures,) = rows(release, "FROM utility('people', 'release', k := 5)")
    assert made["measures"] == {**measures, "weighted_gcp": None}
    assert made["loss"] == rows(release, "FROM attribute_loss('people', 'release')")
    found = {check["property"]: check["found"] for check in checks}
    wanted = {name: found[name] for name in ("k", "l", "t")}
    assert made["achieved"] == {**dict.fromkeys(LEVELS), **wanted}
    assert (made["manifest"], made["method"]) == (1, "mondrian")
    names = ("purpose", "recipient", "environment", "review_by")
    assert made["statement"] == {**dict.fromkeys(names), "assumptions": [], "review": []}
    unasked = {
        name: known.default for model in VALUE_MODELS for name, known in model.parameters().items()
    }
    assert made["parameters"] == {
        **unasked,
        "k": 5,
        "l": 2,
        "t": 0.4,
        "l_kind": "distinct",
        "c": 3,
        "entity": None,
        "seed": 42,
        "suppressed": "keep",
        "unique_share": 0,
        "unit": "person",
        "ordered": None,
        "hierarchy": False,
        "options": None,
    }


def test_the_loss_by_weights_stands_beside_the_loss(release):
    release.execute('ALTER TABLE people RENAME city TO "it\'s ""a.b"')
    release.execute('ALTER TABLE release RENAME city TO "it\'s ""a.b"')
    weights = "MAP {'it''s \"A.b': 7, 'born': 0.5}"
    made = manifest(release, f", k := 5, options := {{'effort': 'good', 'weights': {weights}}}")
    ((plain, weighted),) = release.execute(
        f"SELECT gcp('people', 'release'), gcp('people', 'release', weights := {weights})"
    ).fetchall()
    assert plain != pytest.approx(weighted)
    assert made["measures"]["gcp"] == pytest.approx(plain, rel=1e-12)
    assert made["measures"]["weighted_gcp"] == pytest.approx(weighted, rel=1e-12)
    for options in ("{'effort': 'good'}", "{'weights': NULL}", "NULL"):
        found = manifest(release, f", k := 5, options := {options}")
        assert found["measures"] == {**made["measures"], "weighted_gcp": None}


def test_what_a_release_is_for_is_stated(release):
    stated = ", purpose := 'A \"study\"', recipient := 'R', assumptions := ['it''s', 'b']"
    assert manifest(release, f", 'mondrian', k := 5{stated}")["statement"] == {
        "purpose": 'A "study"',
        "recipient": "R",
        "environment": None,
        "assumptions": ["it's", "b"],
        "review_by": None,
        "review": [],
    }


def test_beta_and_delta_are_stated_and_an_infinite_one_is_unknown(release):
    made = manifest(release, ", 'mondrian', k := 5, beta := 0.01, delta := 0.5")
    found = {check["property"]: check for check in made["checks"]}
    (beta, delta), measured = (
        (found["beta"], found["delta"]),
        release.execute(
            "SELECT beta_likeness('people', 'release'), delta_disclosure('people', 'release')"
        ).fetchall()[0],
    )
    assert (beta["passed"], delta["passed"]) == (False, False)
    for check, figure in zip((beta, delta), measured, strict=True):
        assert check["found"] == (None if figure == float("inf") else figure)
        assert made["achieved"][check["property"]] == check["found"]


def test_roles_come_from_comments_and_from_the_call(release):
    release.execute("CREATE VIEW bare AS FROM people")
    declared = {
        "quasi": ["age", "city", "sex", "born"],
        "sensitive": ["illness"],
        "identifiers": ["person_id"],
        "keep": ["score"],
        "exclude": [],
        "without_role": [],
    }
    assert manifest(release)["roles"] == declared
    named = f"SELECT roles FROM anon_manifest('bare', 'release', {ROLES}, sensitive := ['illness'])"
    ((roles,),) = release.execute(named).fetchall()
    assert roles == {
        **declared,
        "identifiers": [],
        "keep": [],
        "without_role": ["person_id", "score"],
    }


def test_the_schema_decides_the_hash_and_no_row_does(release):
    def schema(sql):
        release.execute(f"CREATE OR REPLACE TABLE other AS {sql}")
        call = f"anon_manifest('other', 'release', {ROLES}, identifiers := ['person_id'])"
        return release.execute(f"SELECT raw.schema_sha256 FROM {call}").fetchall()[0][0]

    same = schema("FROM people")
    assert same == schema("SELECT * REPLACE (score + 1 AS score) FROM people ORDER BY age")
    assert len(same) == 64
    assert same != schema("SELECT * REPLACE (score::FLOAT AS score) FROM people")
    assert same != schema("SELECT * RENAME (score AS points) FROM people")
    assert same != schema("SELECT score, * EXCLUDE (score) FROM people")


def test_it_holds_no_value_of_a_column(release):
    text = json.dumps(manifest(release, ", k := 5, l := 2"))
    ((words,),) = release.execute(
        "SELECT list_distinct(flatten(list([city, illness, born::VARCHAR]))) FROM people"
    ).fetchall()
    assert not [word for word in words if word and f'"{word}"' in text]
    assert "example" not in text


def test_copy_writes_it_as_json(release, tmp_path):
    path = tmp_path / "release.json"
    release.execute(f"COPY (FROM anon_manifest('people', 'release', k := 5)) TO '{path}'")
    texts = path.read_text(), json.dumps(manifest(release, ", k := 5"))
    # threads may add in another order: the last digits of a sum are not the same in two queries
    written, wanted = (json.loads(t, parse_float=lambda f: round(float(f), 9)) for t in texts)
    assert written == wanted


def test_typed_release_and_hierarchy(release):
    release.execute("SET threads = 1")
    release.execute("CREATE TABLE tree AS FROM numeric_hierarchy('people', 'age', widths := [20])")
    release.execute(
        "CREATE OR REPLACE TABLE release AS FROM basic_mondrian('people', k := 5, "
        "hierarchy := 'tree')"
    )
    made = manifest(release, ", k := 5, hierarchy := 'tree'")
    assert made["parameters"]["hierarchy"] is True
    assert not [check for check in made["checks"] if check["passed"] is False]
    assert made["loss"] == rows(
        release, "FROM attribute_loss('people', 'release', hierarchy := 'tree')"
    )


@pytest.mark.slow
def test_an_entity_is_counted(release):
    visits = "SELECT person_id // 2 AS person, * EXCLUDE (person_id) FROM people"
    release.execute(f"CREATE TABLE visits AS {visits}")
    roles = f"{ROLES}, sensitive := ['illness'], keep := ['score']"
    release.execute(
        f"CREATE TABLE safe AS FROM anonymize('visits', k := 4, entity := 'person', {roles})"
    )
    call = f"anon_manifest('visits', 'safe', k := 4, entity := 'person', {roles})"
    ((k, entity),) = release.execute(f"SELECT achieved.k, parameters.entity FROM {call}").fetchall()
    assert k >= 4
    assert entity == "person"
