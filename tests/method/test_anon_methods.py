"""anon_methods: every release method, and what it says is what the methods do."""

import re

import duckdb
import pytest

from anon_sql.core.parameters import takes
from anon_sql.hosts.duckdb.sql_files import default_of, sql_files
from anon_sql.methods.method import find_method, release_methods

RELEASES = sorted(file.name for file in sql_files() if file.folder == "release")


def test_a_row_for_every_release(con):
    found = con.sql("FROM anon_methods()")
    assert found.columns == ["name", "what", "paper", "doi", "needs", "cost", "perturbative"]
    assert [row[0] for row in found.fetchall()] == RELEASES
    perturbative = con.execute("SELECT name FROM anon_methods() WHERE perturbative").fetchall()
    assert perturbative == [("sdka",)]


@pytest.mark.parametrize("name", RELEASES)
def test_a_release_has_its_facts(con, name):
    facts = find_method(name)
    assert facts.what.endswith(".")
    assert facts.what.count(".") == 1
    assert re.search(r"\b(19|20)\d\d\b|undated", facts.paper)
    assert facts.doi is None or all(
        re.fullmatch(r"10\.\d{4,}/\S+", doi) for doi in facts.doi.split("; ")
    )
    assert "n" in facts.cost
    assert (facts.needs is None) == (facts.columns == ())
    row = con.execute(f"FROM anon_methods() WHERE name = '{name}'").fetchall()[0]
    said = (name, facts.what, facts.paper, facts.doi, facts.needs, facts.cost, facts.perturbative)
    assert row == said


def test_steps_are_no_methods():
    assert not {"vp_partition", "cof_score", "generalize", "compare"} & set(release_methods())


@pytest.mark.parametrize("name", RELEASES)
def test_needs_are_what_the_release_asks_for(people, name):
    """On text without hierarchies, a method with needs is an error, and any other is none."""
    call = f"SELECT count(*) FROM {name}('people', k := 5)"
    if find_method(name).needs:
        with pytest.raises(duckdb.Error, match=f"{name}: every quasi-identifier"):
            people.execute(call).fetchall()
    else:
        assert people.execute(call).fetchall() == [(120,)]


@pytest.mark.parametrize("name", RELEASES)
def test_defaults_are_those_of_the_macro(con, name):
    """Each parameter accepts its default, which stands in the signature."""
    (file,) = [file for file in sql_files() if file.name == name]
    written, known = dict(file.signature), takes(name)
    assert set(written) == {"tbl", *known}
    for parameter in known.values():
        parameter.read(name, {})
        assert written[parameter.name] == f"{parameter.name} := {default_of(parameter)}"
