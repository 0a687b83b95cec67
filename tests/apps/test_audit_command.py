"""``anon-sql audit``: k, l and t of a finished file, against counts in plain Python."""

import json
import random
from collections import Counter, defaultdict

import duckdb
import pytest

from tests.command import refused, run

pytestmark = pytest.mark.quick

PLACES = ["Washington, D.C.", "L'Aquila", "{x}", "[60,80[", "*", '"a"', "[1, 2]", None]


@pytest.fixture(scope="module")
def table():
    drawn = random.Random(7)
    return [
        (f"p{drawn.randrange(60)}", drawn.choice(PLACES), drawn.randrange(3), drawn.choice("xxyz"))
        for _ in range(200)
    ]


@pytest.fixture(scope="module")
def files(table, tmp_path_factory):
    """The table as CSV, TSV and Parquet, and in a database."""
    folder = tmp_path_factory.mktemp("finished")
    paths = {kind: folder / f"t.{kind}" for kind in ("csv", "tsv", "parquet", "duckdb")}
    with duckdb.connect(str(paths["duckdb"])) as con:
        con.execute("CREATE TABLE t (who VARCHAR, place VARCHAR, age INTEGER, illness VARCHAR)")
        con.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", table)
        for kind in ("csv", "parquet"):
            con.execute(f"COPY t TO '{paths[kind]}' (FORMAT {kind})")
        con.execute(f"COPY t TO '{paths['tsv']}' (FORMAT csv, DELIMITER '\t', HEADER)")
    return {**paths, "duckdb": f"{paths['duckdb']}:main.t"}


def counted(table, *, people: bool) -> dict:
    """The figures of the table by place and age."""
    groups = defaultdict(set if people else list)
    add = set.add if people else list.append
    values, every = defaultdict(set if people else list), set() if people else []
    for at, (who, place, age, illness) in enumerate(table):
        add(groups[place, age], who if people else at)
        add(values[place, age], (who, illness) if people else illness)
        add(every, (who, illness) if people else illness)
    of = (lambda pairs: Counter(pair[1] for pair in pairs)) if people else Counter
    whole, sizes = of(every), {key: len(each) for key, each in groups.items()}
    total = sum(whole.values())
    apart = [
        sum(abs(n[v] / sum(n.values()) - whole[v] / total) for v in whole) / 2
        for n in map(of, values.values())
    ]
    single = [next(iter(groups[key])) for key, size in sizes.items() if size == 1]
    return {
        "k": min(sizes.values()),
        "l": min(len(of(each)) for each in values.values()),
        "t": max(apart),
        "groups": len(sizes),
        "unique": len(set(single)),
        "smallest": sorted(Counter(sizes.values()).items())[:5],
    }


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "duckdb"])
@pytest.mark.parametrize("people", [False, True])
def test_it_finds_what_a_plain_count_finds(files, table, kind, people):
    call = ["audit", files[kind], "--quasi", "place,age", "--sensitive", "illness", "--json"]
    result = run(*call, *(["--entity", "who"] if people else []))
    assert result.exit_code == 0, result.output
    found, right = json.loads(result.stdout), counted(table, people=people)
    levels = {each["measure"]: each["found"] for each in found["levels"]}
    assert levels == pytest.approx({name: right[name] for name in "klt"}, abs=1e-9)
    assert found["rows"] == 200
    assert found["people"] == (len({row[0] for row in table}) if people else None)
    assert (found["groups"], found["unique"]) == (right["groups"], right["unique"])
    smallest = [(each["size"], each["groups"]) for each in found["smallest_groups"]]
    assert smallest == right["smallest"]


@pytest.mark.parametrize(
    ("options", "missed"),
    [
        ("--k 2", "k = 1 (at least 2)"),
        ("--k 1 --l 2", "l = 1 (at least 2)"),
        ("--k 2 --l 2 --t 0.1", "k = 1 (at least 2), l = 1 (at least 2) and t = 0.5 (at most 0.1)"),
        ("--l 1.5 --l-kind entropy", "l = 1 (at least 1.5)"),
    ],
)
def test_it_exits_with_1_and_says_which_level_is_not_reached(tmp_path, options, missed):
    path = tmp_path / "t.csv"
    path.write_text("place,illness\na,x\nb,x\nb,y\nb,y\n")
    result = run("audit", path, "--quasi", "place", "--sensitive", "illness", *options.split())
    assert result.exit_code == 1
    assert result.stderr == (
        f"audit: the table must have what is required, got {missed}; anon-sql release makes a "
        "table that has it\n"
    )
    assert "not met" in result.stdout
    assert "1 of" not in result.stderr


def test_it_prints_counts_and_no_value(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("place,illness\nsecret1,secret2\nsecret3,secret4\nsecret3,secret5\n")
    call = ["audit", path, "--quasi", "PLACE", "--sensitive", "illness", "--k", "1", "--l", "1"]
    result = run(*call, "--t", "0.7")
    assert result.exit_code == 0
    assert "secret" not in result.output
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines[0] == f"{path}: 3 rows, 2 groups by place"
    assert "k 1 1 met rows in the smallest group" in lines
    assert "l 1 1 met different values of illness in the least diverse group" in lines
    assert "unique 1 33.3% of all rows: rows without another in their group" in lines
    assert lines[-1] == "k counts rows. If a person can have several rows, pass --entity."


def test_rows_without_a_person_count_as_one_person(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("who,place\n,a\n,a\n1,a\n2,b\n2,b\n")
    result = run("audit", path, "--quasi", "place", "--entity", "who", "--json")
    found = json.loads(result.stdout)
    assert (found["people"], found["unique"], found["levels"][0]["found"]) == (3, 1, 1)
    assert found["smallest_groups"] == [{"size": 1, "groups": 1}, {"size": 2, "groups": 1}]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--quasi cty", "--quasi must name a column of FILE, got 'cty'; did you mean city? "),
        ("--quasi city --l 2", "--l must come with --sensitive"),
        ("--quasi city --t 0.2", "--t must come with --sensitive"),
        ("--quasi city --sensitive city", "a column has one role, got two for city"),
        ("--quasi ,", "--quasi must name quasi-identifiers"),
        ("--quasi city --l-kind other", "--l-kind must be distinct, entropy, recursive"),
        ("--quasi city --sensitive age --l 1.5", "--l must be a whole number where --l-kind is "),
    ],
)
def test_what_it_refuses(tmp_path, options, said):
    path = tmp_path / "t.csv"
    path.write_text("city,age\na,1\n")
    assert refused("audit", path, *options.split()).startswith(f"audit: {said}")


def test_a_table_without_rows_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("city,age\n")
    said = refused("audit", path, "--quasi", "city", "--k", "2", "--header")
    assert said.startswith("audit: FILE must have rows")


def test_hostile_names_are_names(tmp_path):
    path, name = tmp_path / "t.parquet", 'a"; DROP TABLE raw; --'
    quoted = '"' + name.replace('"', '""') + '"'
    duckdb.sql(f"SELECT 1 AS {quoted}, 'x' AS \"from\" FROM range(3)").write_parquet(str(path))
    written = '"' + name.replace('"', '""') + '"'
    result = run("audit", path, "--quasi", written, "--sensitive", "from", "--entity", name)
    assert result.exit_code == 1
    assert "a column has one role" in result.stderr
    result = run("audit", path, "--quasi", written, "--sensitive", "from", "--k", "3")
    assert result.exit_code == 0, result.output
