"""What being in a table adds to what a control tells: how the limits of gain were chosen.

    python benchmarks/calibration.py [table …]

Attacks releases of eight tables by ``isolation``, ``linkage`` and ``inference``. At most 10,000
people of a table are taken, by hash; a fifth of them is the control and is not released. The tables
are those of benchmarks/verdict.py; one whose file is missing is left out. Prints a row per release,
in the form of docs/measurements/gain.md, and one with the sensitive values shuffled between all
people: what groups of this size tell by chance. It takes about a minute on one core.
"""

import sys
from collections.abc import Iterator
from typing import Any

import duckdb
from verdict import DATA, TABLES, hospital

import anon_sql
from anon_sql.apps.verdict.criteria import gains_of, with_gains
from anon_sql.apps.verdict.figures import Figure, Measured
from anon_sql.apps.verdict.rules import RED, verdict

MOST, FIFTH = 10_000, 5
RELEASES: list[dict[str, Any]] = [
    {"k": 2},
    {"k": 5},
    {"k": 5, "l": 2, "t": 0.3},
    {"k": 10},
    {"k": 10, "l": 2},
    {"k": 10, "l": 2, "t": 0.3},
    {"k": 100},
]
GROUPS = ("certain", "inferred")
CRITERIA = ("isolation", "linkage", "inference")


def load(con: duckdb.DuckDBPyConnection, name: str) -> bool:
    """Make the tables ``raw`` and ``control``, or return False for a file that is missing."""
    source, quasi, sensitive = TABLES[name]
    if source.startswith("("):
        if not (DATA / "hospital.py").is_file():
            return False
        hospital(con)
    taken = ", ".join(f'"{column}"' for column in [*quasi, *sensitive])
    try:
        con.execute(
            f"CREATE TABLE everybody AS SELECT {taken}, row_number() OVER (ORDER BY h) AS place "
            f"FROM (SELECT *, hash(t) AS h FROM {source} AS t) ORDER BY h LIMIT {MOST}"
        )
    except duckdb.IOException:
        return False
    divide(con)
    return True


def divide(con: duckdb.DuckDBPyConnection) -> None:
    """Make ``raw`` and ``control`` of the table ``everybody``."""
    for table, condition in (("raw", "<> 0"), ("control", "= 0")):
        con.execute(
            f"CREATE OR REPLACE TABLE {table} AS SELECT * EXCLUDE (place) FROM everybody "
            f"WHERE place % {FIFTH} {condition}"
        )


def shuffle(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """Shuffle the sensitive values between all people; a person keeps one value everywhere."""
    _, quasi, sensitive = TABLES[name]
    known, hidden = (", ".join(f'"{each}"' for each in names) for names in (quasi, sensitive))
    con.execute(
        f"CREATE OR REPLACE TABLE everybody AS FROM (SELECT {known}, place FROM everybody "
        f"ORDER BY place) POSITIONAL JOIN (SELECT {hidden} FROM (SELECT *, "
        "hash(place, 'shuffled') AS h FROM everybody) ORDER BY h)"
    )
    divide(con)


def row_of(con: duckdb.DuckDBPyConnection, name: str, asked: dict[str, Any], words: str) -> str:
    """Return a row of the page: the worst attack of each criterion, and what is red."""
    _, quasi, sensitive = TABLES[name]
    call = {**asked, "quasi": quasi, "sensitive": sensitive, "effort": "fast"}
    listed = ", ".join(f"{key} := ${key}" for key in call)
    con.execute(f"CREATE OR REPLACE TABLE released AS FROM anonymize('raw', {listed})", call)
    request = {"quasi": quasi, "sensitive": sensitive, "hierarchy": None}
    gains = gains_of(con, request, control=True)
    cells = []
    for criterion in CRITERIA:
        worst = max((g for g in gains if g["criterion"] == criterion), key=lambda gain: gain["low"])
        shares = [worst["rate"], worst["control_rate"]] if criterion == "inference" else []
        interval = f"{worst['gain']:.3f} ({worst['low']:.3f} to {worst['high']:.3f})"
        cells += [*(f"{share:.3f}" for share in shares), interval]
    groups = Measured(list(disclosed(con, quasi, sensitive)), [], "", request={**request, **asked})
    levels = [red_or_amber(each) for each in (groups, with_gains(groups, gains))]
    return f"| {name} | {words} | {' | '.join([*cells, *levels])} |"


def disclosed(
    con: duckdb.DuckDBPyConnection, quasi: list[str], sensitive: list[str]
) -> Iterator[Figure]:
    """Give the shares of the rows of groups that disclose a sensitive column."""
    found = con.execute(
        "SELECT attribute, certain_share, inferred_share FROM "
        "attack_inference('raw', 'released', $s, quasi := $q)",
        {"s": sensitive, "q": quasi},
    ).fetchall()
    for column, *shares in found:
        yield from (Figure(*pair, "", column) for pair in zip(GROUPS, shares, strict=True))


def red_or_amber(measured: Measured) -> str:
    """Return the rules of the verdict that disclosure breaks, red ones in bold."""
    found = {
        (each.rule, each.level == RED)
        for each in verdict(measured).reasons
        if each.rule in (*GROUPS, *CRITERIA)
    }
    return ", ".join(f"**{rule}**" if red else rule for rule, red in sorted(found)) or "-"


if __name__ == "__main__":
    heads = "table release isolation linkage inference,_rate control gain groups_alone with_control"
    print(f"| {heads.replace(' ', ' | ').replace('_', ' ')} |\n|{'---|' * 9}")
    for chosen in sys.argv[1:] or TABLES:
        with anon_sql.connect() as con:
            if not load(con, chosen):
                print(f"{chosen}: left out, because its file is missing", file=sys.stderr)
                continue
            for asked in RELEASES:
                words = ", ".join(f"{key} = {value}" for key, value in asked.items())
                print(row_of(con, chosen, asked, words), flush=True)
            shuffle(con, chosen)
            print(row_of(con, chosen, {"k": 10}, "k = 10, values shuffled"), flush=True)
