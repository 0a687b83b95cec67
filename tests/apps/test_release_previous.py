"""anon-sql release with earlier releases: --previous refuses, --like takes their bins."""

import hashlib
import json

import pytest

from tests.command import refused, run

ATTACK = (
    "an attack, not a bound: it intersects whole tuples of sensitive and kept columns, but subtracts "
    "no counts"
)
ROLES = ["--quasi", "age,weight", "--sensitive", "stage", "--entity", "person", "--k", 3]


@pytest.fixture
def people(con, tmp_path):
    """A file of 200 persons, whose sensitive value is a number, and its release of May."""
    path = tmp_path / "people.csv"
    con.execute(
        "COPY (SELECT i AS person, 18 + i * 37 % 61 AS age, 40 + i * i * 7 % 83 AS weight, "
        f"1 + i * i * 13 // 11 % 5 AS stage FROM range(200) AS made(i)) TO '{path}'"
    )
    made = run("release", path, tmp_path / "may.csv", "--method", "rayden", "--seed", 1, *ROLES)
    assert made.exit_code == 0, made.output
    return path


def test_more_together_than_alone(people):
    may, june = people.with_name("may.csv"), people.with_name("june.parquet")
    asked = ["release", people, june, "--method", "rayden", "--seed", 2, *ROLES, "--previous", may]
    assert refused(*asked) == (
        "release: the share that attacks on all releases together find must be at most 0, got 0.115 "
        f"for intersection (stage: 23 of 200 persons, 23 with one value; {ATTACK}); "
        "see anon-sql help releasing-again, or allow a share with --previous-share"
    )
    assert not june.exists()
    allowed = run(*asked, "--previous-share", 0.12)
    assert allowed.exit_code == 0, allowed.output
    assert (
        "all releases together, intersection: Attack: all releases together leave 23 of 200 persons "
        f"fewer than 2 values; 12% may be exposed so (stage: 23 of 200 persons, 23 with one value; "
        f"{ATTACK})"
    ) in allowed.stderr
    again = run(*asked, "--seed", 1, "--overwrite", "--previous-share", 0.005)
    assert again.exit_code == 0, again.output
    one_alone = "intersection: Attack: all releases together leave 1 of 200 persons"
    assert one_alone in again.stderr  # whom the first release alone leaves with one value
    assert "joined: Attack: counts show no row that came (since" in again.stdout
    assert "cohort_l: Bound: no file tells" in again.stdout


def test_a_newcomer_and_a_leaver_are_refused(con, people, tmp_path):
    """With everybody else as before; the kept column is read in its type from CSV."""
    roles = [*ROLES[:4], "--keep", "*", "--entity", "person", "--k", 5, "--l", 2]
    more = tmp_path / "more.csv"
    con.execute(
        f"COPY (SELECT *, person % 3 AS ward FROM (FROM '{people}' UNION ALL "
        f"SELECT 999, 47, 71, 3)) TO '{more}'"
    )
    fewer = tmp_path / "fewer.csv"
    con.execute(f"COPY (FROM '{more}' WHERE person < 999) TO '{fewer}'")
    released = {path: tmp_path / f"of_{path.name}" for path in (more, fewer)}
    for path, out in released.items():
        assert run("release", path, out, *roles).exit_code == 0
    for path, earlier, name, verb in (
        (more, fewer, "joined", "came"),
        (fewer, more, "left", "went"),
    ):
        asked = ["release", path, tmp_path / "o.parquet", *roles, "--previous", released[earlier]]
        assert "for intersection (stage: " in refused(*asked)
        allowed = run(*asked, "--previous-share", 0.9)
        assert allowed.exit_code == 0, allowed.output
        assert f"{name}: Attack: counts show too few values of 1 row that {verb}" in allowed.stderr
        (tmp_path / "o.parquet").unlink()


def test_what_cannot_be_compared(people):
    asked = [
        "release",
        people,
        people.with_name("safe.csv"),
        "--quasi",
        "age,weight",
        "--keep",
        "*",
    ]
    assert refused(*asked, "--previous", people.with_name("may.csv")) == (
        "release: --previous needs a sensitive column; name it in --sensitive"
    )
    said = refused(*asked, "--sensitive", "stage", "--previous", people.with_name("gone.csv"))
    assert said.startswith("release: --previous must be a file, got")


def test_like(people, con):
    may, june = people.with_name("bins.csv"), people.with_name("june.csv")
    call = ["--quasi", "age,weight", "--sensitive", "stage", "--identifier", "person", "--k", 3]
    call += ["--method", "full_domain", "--suppression-limit", 0.1]
    assert run("release", people, may, *call).exit_code == 0
    made = run("release", people, june, *call, "--like", may, "--manifest")
    assert made.exit_code == 0, made.output
    labels = "SELECT DISTINCT age FROM '{}' WHERE age <> '*' ORDER BY ALL"
    assert con.execute(labels.format(may)).fetchall() == con.execute(labels.format(june)).fetchall()
    other = ["release", people, june.with_name("o.csv"), *ROLES, "--method", "rayden"]
    assert refused(*other, "--like", may) == (
        "release: --like must come with --method datafly or full_domain, got --method rayden"
    )
    assert refused(*other, "--like", may.with_name("none.csv"), "--method", "datafly").startswith(
        "release: --like must be a file, got '"
    )
    assert refused(*other, "--suppression-limit", 2, "--method", "anonymize") == (
        "anonymize: --suppression-limit must be a number of at least 0 and at most 1, got 2.0"
    )


@pytest.mark.slow
def test_the_manifest_names_the_earlier_files_and_verify_compares_with_them(people):
    may, june = people.with_name("may.csv"), people.with_name("june.csv")
    asked = ["release", people, june, "--method", "rayden", "--seed", 2, *ROLES, "--manifest"]
    made = run(*asked, "--previous", may, "--previous-share", 0.12)
    assert made.exit_code == 0, made.output
    stated = json.loads(june.with_name("june.csv.anon.json").read_text("utf-8"))
    digest = hashlib.sha256(may.read_bytes()).hexdigest()
    assert stated["series"] == {
        "previous": [{"name": "may.csv", "sha256": digest}],
        "previous_share": 0.12,
        "cohorts": None,
    }
    checks = {check["property"]: check for check in stated["checks"]}
    found = {name: (check["found"], check["passed"]) for name, check in checks.items()}
    assert found["intersection"] == (0.115, True)
    assert (found["joined"], found["left"]) == ((0, True), (0, True))
    assert found["cohort_l"] == (None, None)
    verified = run("verify", june, "--raw", people, "--previous", may)
    assert verified.exit_code == 0, verified.output
    assert f"holds    audit: intersection ({ATTACK})" in verified.stdout
    assert "noted    audit: cohort_l" in verified.stdout
    assert "--previous names none" in run("verify", june, "--raw", people).stdout
    other = refused("verify", june, "--raw", people, "--previous", june)
    assert "failed: the earlier releases are those that were named (other releases)" in other


@pytest.mark.slow
def test_means_in_a_csv(people):
    """They are refused, as in Parquet; a manifest says that single values are labels."""
    means, june = people.with_name("means.csv"), people.with_name("june.csv")
    asked = ["release", people, june, *ROLES, "--overwrite", "--previous"]
    assert run("release", people, means, *ROLES, "--format", "mean", "--manifest").exit_code == 0
    may = people.with_name("may.csv")
    for earlier in ([means], [may, "--previous", means]):
        said = refused(*asked, *earlier)
        assert "must show labels of age" in said
        assert f"in '{means}'; these cannot be composed" in said
    means.with_name("means.csv.anon.json").unlink()
    assert "must show labels of age" in refused(*asked, means)
    assert run(*asked, may, "--previous-share", 1).exit_code == 0
