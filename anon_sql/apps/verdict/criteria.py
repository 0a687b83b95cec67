"""Attack a release by isolation, linkage and inference, and judge what being in the table adds.

The control are people who are not in the table, in the relation ``control``. What the same attack
finds of them, the population tells anyway.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import duckdb

from anon_sql.apps.verdict.figures import TABLES, Figure, Measured, Rows, arguments, rows_of
from anon_sql.attacks.criteria import INFERENCE, ISOLATION, LINKAGE, Attempts
from anon_sql.attacks.minimality import wilson
from anon_sql.core.names import literal, quote
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, Parameter

CONTROL = "control"
CRITERIA = (ISOLATION, LINKAGE, INFERENCE)
TOLD_ANYWAY = (
    0.25  # of the rows that groups disclose: fewer gain, so the population tells the value
)
_BY_GROUPS = ("certain", "inferred")  # figures of groups that the population may explain


def gains_of(
    con: duckdb.DuckDBPyConnection, request: Mapping[str, Any], *, control: bool
) -> list[dict[str, Any]]:
    """Return what the three attacks find: their rows, each with its criterion and its SQL.

    request: quasi, sensitive and hierarchy. control: whether the relation ``control`` is there.
    ``most_added`` is the upper end of what being in the table adds to the rate of the control. A
    release of a series is not attacked, because it has rows of people who left.
    """
    if not request["quasi"] or request.get("series") is not None:
        return []
    roles = {name: request[name] for name in ("quasi", "hierarchy")}
    options = {CONTROL: CONTROL if control else None, **roles}
    calls = {ISOLATION: f"{ISOLATION}({TABLES}{arguments(options)})"}
    if len(request["quasi"]) > 1:
        calls[LINKAGE] = f"{LINKAGE}({TABLES}{arguments(options)})"
    if request["sensitive"]:
        secret = {"secret": list(request["sensitive"])}
        calls[INFERENCE] = f"{INFERENCE}({TABLES}{arguments({**secret, **options})})"
    people = _attempts_on(con) if control else 0
    return [
        {
            "criterion": criterion,
            **row,
            "most_added": _most_added(row, people),
            "sql": f"FROM {call} WHERE attack = {literal(row['attack'])}",
        }
        for criterion, call in calls.items()
        for row in rows_of(con, f"FROM {call}")
    ]


def _attempts_on(con: duckdb.DuckDBPyConnection) -> int:
    """Return how many people of the control are attacked."""
    ((rows,),) = con.execute(f"SELECT count(*) FROM {CONTROL}").fetchall()
    return min(int(rows), Attempts.attempts or int(rows))


def _most_added(row: Mapping[str, Any], people: int) -> float | None:
    """Return the upper end of the rate minus the lower end of that of the control, if any."""
    if row["control_rate"] is None:
        return None
    _, most = wilson(row["successes"], row["attempts"])
    least, _ = wilson(row["control_rate"] * people, people)
    return None if most is None or least is None else most - least


def with_gains(measured: Measured, gains: Rows) -> Measured:
    """Return what a verdict judges with what the three attacks found; see ``gains_of``."""
    figures = [*measured.figures, *_figures(gains)]
    return replace(measured, figures=figures, gains=gains)


def _figures(gains: Rows) -> Iterator[Figure]:
    """Give the lower end of each gain: only what is beyond chance is judged."""
    for row in gains:
        if row["gain"] is not None:
            column = row["attack"] if row["criterion"] == INFERENCE else None
            sql = f"SELECT low {row['sql']}"
            yield Figure(row["criterion"], row["low"], sql, column, row["attack"])


def is_told_anyway(rule: str, share: float | None, column: str | None, gains: Rows) -> bool:
    """Return whether the population tells what groups disclose of a sensitive column.

    share: of the rows of such groups. It does if the attack adds little to what it finds of the
    control, at most: the upper end is below ``TOLD_ANYWAY`` of the share. So a control of few
    people shows nothing, and nor does any control of a share of few rows.
    """
    if rule not in _BY_GROUPS or share is None or column is None:
        return False
    added = [
        row["most_added"]
        for row in gains
        if row["criterion"] == INFERENCE and fold(row["attack"]) == fold(column)
    ]
    return any(each is not None and each < TOLD_ANYWAY * share for each in added)


def require_others(
    function: str, con: duckdb.DuckDBPyConnection, request: Mapping[str, Any]
) -> None:
    """Raise AnonError if ``control`` has a value of an identifier that ``raw`` has too.

    The attacks refuse a control without rows or columns, and one whose rows are those of ``raw``.
    """
    columns = {fold(name): name for name in con.table(CONTROL).columns}
    raw = {fold(name): name for name in con.table("raw").columns}
    for name in map(fold, request.get("identifiers") or []):
        if name not in columns or name not in raw:
            continue
        same = f"c.{quote(columns[name])}::VARCHAR = r.{quote(raw[name])}::VARCHAR"
        both = f"SELECT 1 FROM {CONTROL} AS c SEMI JOIN raw AS r ON {same} LIMIT 1"
        if con.execute(both).fetchall():
            rule = Parameter(CONTROL) + " must be people who are not in the raw table"
            got = f"values of {columns[name]} that the raw table has too"
            raise AnonError(function, rule, got, "leave these people out")
