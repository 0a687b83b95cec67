"""No error on any host shows a path of the machine, as DuckDB 1.5 does with Python's stack."""

import re
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

import anon_sql
from anon_sql.apps.shell import shell
from anon_sql.hosts.duckdb import registry
from tests.command import refused

pytestmark = [pytest.mark.oldest, pytest.mark.quick]

ROOT = Path(anon_sql.__file__).resolve().parents[1]
PATH = re.compile(r"\bAt:|\.py\b|site-packages|Traceback|" + re.escape(str(ROOT)))
ROLES = "quasi := ['age'], keep := ['illness']"
STEPS = {  # where a statement fails
    "names are bound": f"FROM rayden('nobody', {ROLES})",
    "a parameter": f"FROM rayden('t', k := 0, {ROLES})",
    "roles": "FROM rayden('t', quasi := ['age'])",
    "rows are read": f"FROM rayden('late', {ROLES})",
    "the request and the rows": f"FROM rayden('t', k := 900, {ROLES})",
    "a hierarchy": f"FROM rayden('t', {ROLES}, hierarchy := 't')",
    "an audit's parameter": f"FROM audit('t', 'released', 0, {ROLES})",
    "an audit's hierarchy": f"FROM audit('t', 'released', 5, {ROLES}, hierarchy := 't')",
    "a measure": "SELECT gcp('t', 'broken', quasi := ['age'])",
    "a label": "SELECT anon_min('[1')",
    "a key": "SELECT anon_pseudonym('x', 'env:NO_SUCH')",
    "a type": "SELECT anon_pseudonym(1.5::DOUBLE, '0123456789abcdef')",
}
TABLES = f"""
    CREATE TABLE t AS SELECT 20 + i % 9 AS age, 'x' || i % 3 AS illness FROM range(40) r(i);
    CREATE TABLE released AS FROM rayden('t', {ROLES});
    CREATE TABLE broken AS SELECT * REPLACE ('[' || age AS age) FROM released;
    CREATE VIEW late AS SELECT * REPLACE (if(age < 28, illness, error('no further')) AS illness) FROM t;
"""


@pytest.fixture(scope="module")
def planted():
    """Tables that no test writes to."""
    with anon_sql.connect() as con:
        con.execute(TABLES)
        yield con


@pytest.mark.parametrize("call", STEPS.values(), ids=STEPS)
def test_in_python(planted, call):
    with pytest.raises(duckdb.Error) as caught:
        planted.execute(call).fetchall()
    assert not PATH.search(str(caught.value))


@pytest.mark.parametrize("call", STEPS.values(), ids=STEPS)
def test_in_the_shell(planted, call, capsys):
    assert not shell.answer(planted, call)
    said = capsys.readouterr().err
    assert said
    assert not PATH.search(said)


@pytest.mark.parametrize("step", ["a parameter", "the request and the rows", "a label"])
def test_in_a_command(tmp_path, step):
    statement = STEPS[step].replace("'t'", "'read_t'")
    file = tmp_path / "t.csv"
    file.write_text("age,illness\n" + "20,x\n" * 40)
    view = f"CREATE VIEW read_t AS FROM '{file}'"
    said = refused("query", f"{view}; {statement}")
    assert said
    assert not PATH.search(said)


def test_an_error_that_nobody_foresaw(monkeypatch):
    """A fault of the package's own, as a KeyError deep inside, shows no stack either."""

    def deep(*_):
        raise KeyError("a word")

    known = registry._udfs["__anon_columns_pseudonym"]
    monkeypatch.setitem(registry._udfs, known.name, replace(known, call=deep))
    with anon_sql.connect() as con, pytest.raises(duckdb.Error, match="KeyError") as caught:
        con.sql("SELECT anon_pseudonym('x', '0123456789abcdef')").fetchall()
    assert not PATH.search(str(caught.value))


def test_the_stack_of_others_is_not_touched():
    """DuckDB 1.5 shows the stack of the user's own functions, which helps them."""
    with anon_sql.connect() as con:

        def mine(_):
            raise ValueError("mine")

        con.create_function("mine", mine, ["INTEGER"], "INTEGER")
        with pytest.raises(duckdb.Error, match="mine") as caught:
            con.sql("SELECT mine(1)").fetchall()
    assert ("At:" in str(caught.value)) == (duckdb.__version__ < "2")
