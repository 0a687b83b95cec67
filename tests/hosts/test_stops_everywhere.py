"""Every function stops at each look at its token, with one sentence, and its connection works on.

Looks are counted and not timed: ``benchmarks/stops.py`` measures the time between them.
"""

import duckdb
import pytest

from anon_sql.core.stopping import Stop
from anon_sql.hosts.duckdb import sql_files
from anon_sql.hosts.duckdb.errors import error_text
from tests.example_tables import LEDGER, SERIES, TABLES, write_files

EXAMPLES = {entry.name: entry.example for entry in sql_files.entries()}
AT_ONCE = {  # functions that take what is read at once: names, queries, distinct values, one row
    *("anon_help", "anon_methods", "anon_roles", "paper_queries", "rewrite_query", "gower"),
    *("anon_mask", "anon_pseudonym", "anon_shift"),
    *("anon_max", "anon_mid", "anon_min", "anon_values"),
    *("date_hierarchy", "numeric_hierarchy", "prefix_hierarchy"),
    *("read_hierarchies", "series_status"),
    # all of their work is DuckDB's own, which an interrupt ends
    *("linked_audit", "linked_risk", "linked_table"),
}
STOPPED = "stopped on request; nothing was released"


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """The hierarchies that the examples read, in the present folder."""
    made = tmp_path_factory.mktemp("examples")
    write_files(made)
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(made)
        yield


@pytest.fixture
def looks(monkeypatch):
    """What counts the looks at tokens."""
    return Looks(monkeypatch)


class Looks:
    """Counts the looks at tokens; the token that is looked at as the ``last`` one stops."""

    def __init__(self, monkeypatch):
        self.count, self.last = 0, None
        requested = Stop.requested.fget

        def looked(stop):
            self.count += 1
            if self.count == self.last:
                stop.request()
            return requested(stop)

        monkeypatch.setattr(Stop, "requested", property(looked))

    def of(self, con, statement, last=None):
        """Return how many rows a statement has, and how many looks it took."""
        self.count, self.last = 0, last
        rows = con.execute(statement).fetchall()
        return len(rows), self.count


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_function_stops_at_every_look(con, looks, name):
    for script in (TABLES, LEDGER, SERIES):
        con.execute(script)
    statement = EXAMPLES[name]
    looks.of(con, statement)  # what was parsed is kept
    answer = looks.of(con, statement)
    count = answer[1]
    assert (count == 0) == (name in AT_ONCE)
    for last in sorted({1, 2, count // 2, count - 1, count} & set(range(1, count + 1))):
        with pytest.raises(duckdb.Error) as caught:
            looks.of(con, statement, last)
        assert error_text(caught.value).partition(": ")[2] == STOPPED
        assert looks.of(con, statement)[0] == answer[0]  # how often threads look depends on time
