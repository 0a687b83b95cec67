"""Random linked tables: an error of one sentence, or all that is promised, counted in plain Python."""

import re

import pytest

import anon_sql
from anon_sql import AnonError
from tests.linked.folded import Folded, rows
from tests.linked.random_schema import RandomSchema

FORMATS = ("label", "typed", "mean", "median", "midpoint")
ALLOWED = (  # what random tables are refused for
    r"there must be at least|must have at least \d+ values in the whole table"
    r"|needs a sensitive column or link|all persons together must satisfy l"
)


def check(con, drawn, settings):
    """Release random tables and count everything again; return whether they were released."""
    drawn.load(con)
    con.execute("DROP SCHEMA IF EXISTS safe CASCADE")
    try:
        made = anon_sql.release_linked(
            con, "t0", into="safe", links=drawn.links, **drawn.roles, **settings
        )
    except AnonError as error:
        if not re.search(ALLOWED, str(error)):
            raise
        return False
    tables = {name: rows(con, f"safe.{name}") for name in drawn.tables}
    folded = Folded(tables, drawn.tree, drawn.known, drawn.labels())
    assert folded.smallest() >= settings["k"]
    assert len(tables["t0"]) == made.tables["t0"].rows
    for name, columns in drawn.secret.items():
        for column in columns:
            for least in folded.least_l(name, column):
                assert least is None or least >= settings["l"], (name, column)
    for name in drawn.sensitive_links():
        parent = drawn.tree[name][1]
        for row in tables[parent]:
            row["__many"] = len(folded.children(parent, row, name))
        for least in folded.least_l(parent, "__many"):
            assert least is None or least >= settings["l"], name
    call = ", ".join(f"{role} := ${role}" for role in drawn.roles)
    found = con.execute(
        f"FROM linked_audit('t0', 'safe.t0', k := $k, l := $l, links := $links, {call}, "
        f"truth := {settings['format'] in ('label', 'typed')})",
        {"k": settings["k"], "l": settings["l"], "links": drawn.links, **drawn.roles},
    ).fetchall()
    failed = [row for row in found if row[3] is False]
    assert not failed
    return True


def settings_of(seed):
    return {
        "k": 2 + seed % 4,
        "l": 1 + seed % 3,
        "format": FORMATS[seed % 5],
        "surplus": ("drop", "unlink")[seed // 2 % 2],
        "effort": ("fast", "good")[seed % 2],
    }


@pytest.mark.parametrize("block", range(2))
def test_random_schemas(block):
    with anon_sql.connect() as con:
        released = 0
        for seed in range(block * 4, block * 4 + 4):
            con.execute(f"SET threads = {1 + seed % 2}")
            released += check(con, RandomSchema(seed), settings_of(seed))
        assert released


@pytest.mark.long
@pytest.mark.parametrize("block", range(2))
def test_many_random_schemas(block):
    with anon_sql.connect() as con:
        for seed in range(1000 + block * 30, 1030 + block * 30):
            con.execute(f"SET threads = {1 + seed % 2}")
            check(con, RandomSchema(seed), settings_of(seed))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_counts_to_300(seed):
    with anon_sql.connect() as con:
        drawn = RandomSchema(5000 + seed, persons=60, most=300)
        check(con, drawn, {**settings_of(1), "k": 3, "l": 1})
