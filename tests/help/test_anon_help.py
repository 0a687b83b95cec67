"""anon_help: every function, and what its file says of it."""

import pytest

import anon_sql
from anon_sql.hosts.duckdb import sql_files as headers
from anon_sql.hosts.duckdb.sql_files import sql_files
from tests.sentence import fails

PUBLIC = sorted(file.name for file in sql_files() if file.public)


def test_a_row_for_every_function(con):
    found = con.sql("FROM anon_help()")
    assert found.columns == ["name", "topic", "kind", "parameters", "summary"]
    assert sorted(row[0] for row in found.fetchall()) == PUBLIC
    assert con.execute("FROM anon_help() WHERE name IN ('gower', 'anon_roles')").fetchall() == [
        (
            "gower",
            "Building blocks",
            "value",
            ["a", "b", "ranges"],
            "Gower's distance of two records (Gower 1971): the mean over the columns that both have.",
        ),
        (
            "anon_roles",
            "Roles",
            "table",
            [
                "tbl",
                *(
                    f"{role} := NULL"
                    for role in ("quasi", "sensitive", "identifiers", "keep", "exclude")
                ),
            ],
            "The role of every column of a table, and where it is declared.",
        ),
    ]


@pytest.mark.parametrize("name", PUBLIC)
def test_a_summary_is_one_whole_sentence(name):
    summary = headers.find("", name).summary
    assert summary.endswith(".")
    assert summary.count("(") == summary.count(")")
    assert not summary.endswith(("e.g.", "i.e.", "et al."))


def test_parameters_are_those_of_duckdb(con):
    """Names alone, since DuckDB keeps no defaults of macros."""
    assert (
        con.execute(
            "SELECT name FROM anon_help() WHERE (name, [p.split(' ')[1] for p in parameters]) "
            "NOT IN (SELECT (function_name, parameters) FROM duckdb_functions())"
        ).fetchall()
        == []
    )


def test_the_help_of_one(con):
    parts = con.sql("FROM anon_help('gower_ranges')")
    assert parts.columns == ["part", "text"]
    said = dict(parts.fetchall())
    assert list(said) == ["what", "call", "tbl", "quasi", "returns", "errors", "example"]
    assert said["what"] == "The range of each numeric quasi-identifier, for gower()."
    assert said["call"] == "gower_ranges(tbl, quasi := NULL)"
    assert said["quasi"] == (
        "quasi-identifiers, the columns to generalize; NULL means the columns declared in comments."
    )
    assert said["returns"].startswith("MAP(VARCHAR, DOUBLE) by column name: largest less smallest")
    assert said["example"] == "SELECT gower_ranges('people', ['age', 'city']);"


@pytest.mark.slow
def test_nothing_of_a_header_is_lost(con):
    """Every word of the comment on the macro stands in some part of the help."""
    for file in sql_files():
        if file.public:
            rows = con.execute(f"FROM anon_help('{file.name}')").fetchall()
            said = " ".join(" ".join(row) for row in rows).replace(":", " ").split()
            words = set(headers.full_header(file).replace(":", " ").split())
            assert words - {"Returns", "Errors", "Example"} <= set(said), file.name


def test_names_are_as_duckdb_compares_them(con):
    assert (
        con.execute("FROM anon_help('Rayden')").fetchall()
        == con.execute("FROM anon_help(?)", ["rayden"]).fetchall()
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("'raydn'", "'raydn'; did you mean rayden?"),
        ("'GPC'", "'GPC'; did you mean gcp?"),
        ("'sum'", "'sum'; FROM anon_help() lists them"),
        ("'__anon_help_parts_of'", "'__anon_help_parts_of'; did you mean anon_help?"),
        ("NULL", "NULL; FROM anon_help() lists them"),
        ("7", "'7'; FROM anon_help() lists them"),
    ],
)
def test_a_name_that_is_none(con, given, said):
    assert fails(con, f"FROM anon_help({given})") == (
        f"anon_help: name must be one of the package's functions, got {said}"
    )


def test_both_forms_leave_a_database(tmp_path):
    """A macro of two signatures is made, stored, found again and dropped as one."""
    path = str(tmp_path / "d.duckdb")
    config = {"storage_compatibility_version": "v1.4.0"}
    with anon_sql.connect(path, config=config) as con:
        anon_sql.register(con, persist=True)
        assert len(con.execute("FROM anon_help()").fetchall()) == len(PUBLIC)
        anon_sql.unregister(con)
        assert "does not exist" in fails(con, "FROM anon_help()")


def test_no_header_says_whoever(con):
    texts = con.execute("FROM anon_help()").fetchall()
    texts += [con.execute("FROM anon_help(?)", [row[0]]).fetchall() for row in texts]
    assert len(texts) > 2 * 80
    assert "whoever" not in str(texts).lower()
