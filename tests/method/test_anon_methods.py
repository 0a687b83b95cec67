"""anon_methods: every release method, and what it says is what the methods do."""

import re

import duckdb
import pytest

from anon_sql.hosts.duckdb.sql_files import sql_files
from anon_sql.methods.method import find_method, release_methods

RELEASES = sorted(file.name for file in sql_files() if file.folder == "release")


def test_a_row_for_every_release(con):
    found = con.sql("FROM anon_methods()")
    assert found.columns == ["name", "what", "paper", "needs", "cost", "perturbative"]
    assert [row[0] for row in found.fetchall()] == RELEASES
    perturbative = con.execute("SELECT name FROM anon_methods() WHERE perturbative").fetchall()
    assert perturbative == [("sdka",)]


@pytest.mark.parametrize("name", RELEASES)
def test_a_release_has_its_facts(con, name):
    facts = find_method(name).facts
    assert facts is not None, f"@method in methods/{name}.py lacks facts"
    assert facts.what.endswith(".")
    assert facts.what.count(".") == 1
    assert re.search(r"\b(19|20)\d\d\b|undated", facts.paper)
    assert "n" in facts.cost
    assert (facts.needs is None) == (facts.takes == ())
    row = con.execute(f"FROM anon_methods() WHERE name = '{name}'").fetchall()[0]
    said = (name, facts.what, facts.paper, facts.needs, facts.cost, facts.perturbative)
    assert row == said


def test_steps_are_no_methods():
    assert not {"vp_partition", "cof_score", "generalize", "compare"} & set(release_methods())


@pytest.mark.parametrize("name", RELEASES)
def test_needs_are_what_the_release_asks_for(people, name):
    """On text without hierarchies, a method with needs is an error, and any other is none."""
    call = f"SELECT count(*) FROM {name}('people', k := 5)"
    if find_method(name).facts.needs:
        with pytest.raises(duckdb.Error, match=f"{name}: every quasi-identifier"):
            people.execute(call).fetchall()
    else:
        assert people.execute(call).fetchall() == [(120,)]


@pytest.mark.parametrize("name", RELEASES)
def test_defaults_are_those_of_the_macro(con, name):
    """compare takes them from the text of the macro: each option has one, and it is accepted."""
    (file,) = [file for file in sql_files() if file.name == name]
    defaults, options = file.defaults(), find_method(name).options
    assert {"k": 5, "qids": None, "seed": 42, "hierarchy": None}.items() <= defaults.items()
    assert set(options) <= set(defaults)
    for option, kind in options.items():
        kind.read(name, option, defaults[option])
