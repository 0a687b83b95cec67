"""Recommend k: try several k and l on the raw table, and judge what each release would lose.

The figures are those of ``tradeoff``, the limits those of the verdict. Nothing is released.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import duckdb

from anon_sql.apps.verdict.figures import (
    QUERIES,
    SEED,
    STARS,
    Drawn,
    Figure,
    arguments,
    questions,
    rows_of,
)
from anon_sql.apps.verdict.rules import FLOORS, VERDICT, Limit, Reason, judged
from anon_sql.core.roles import fold
from anon_sql.core.stopping import STOPPED
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb.errors import as_raised, error_text
from anon_sql.privacy import MODELS

TIMES = (1, 2, 5)  # of the least k of an environment
LS = (1, 2)
LOSS = ("gcp", "query_error", "columns", "suppression_rate")  # limits of the verdict
DISCLOSED = ("exposed_share",)  # what l is for; no limit is held against it
_QUICK = "options := {'anonymize': {'effort': 'fast'}}"
_VARIED = ("k", "l", "l_kind", "c")


@dataclass(frozen=True)
class Tried:
    """What a release would lose and disclose.

    figures: of ``LOSS``, each with its statement; disclosed: of ``DISCLOSED``. reasons: what is red
    or amber of the figures. note: why there is no such release, or None.
    """

    k: int
    l: int  # noqa: E741
    classes: int | None
    figures: Sequence[Figure]
    disclosed: Sequence[Figure]
    reasons: Sequence[Reason]
    note: str | None


@dataclass(frozen=True)
class Recommended:
    """A k to begin with, why, all that was tried, and the statement that tries it."""

    k: int
    why: str
    tried: Sequence[Tried]
    sql: str

    def facts(self) -> dict[str, Any]:
        """Return what a report says."""
        return asdict(self)


def recommend(
    con: duckdb.DuckDBPyConnection,
    request: Mapping[str, Any],
    *,
    limits: Mapping[str, Limit] = VERDICT,
    environment: str = "contract",
    drawn: Drawn | None = None,
) -> Recommended:
    """Return the largest k that would lose little on the table ``raw``, else the least one.

    The least k of the environment is tried, twice and five times as much, each with ``LS``. A k
    loses little if no release with it has a reason. request: quasi, sensitive, hierarchy, entity
    and the parameters of privacy models, None where nothing is asked; its k and l are not read.
    limits: of the verdict. environment: of ``FLOORS``. drawn: the queries, if there are some
    already.
    """
    ks = [FLOORS[environment] * times for times in TIMES]
    ls = LS if request["sensitive"] else LS[:1]
    call = _call(con, request)
    tried = []
    sql = _statement(call, ks, ls)
    for row in _rows(con, call, ks, ls, drawn or Drawn(con, request)):
        figures, disclosed = (
            [] if row["note"] else list(_figures(call, row, names)) for names in (LOSS, DISCLOSED)
        )
        reasons = [reason for each in figures for reason in judged(each, limits)]
        of = row["k"], row["l"], row["classes"]
        tried.append(Tried(*of, figures, disclosed, reasons, row["note"]))
    return Recommended(*_chosen(tried, ks, environment), tried, sql)


def _rows(
    con: duckdb.DuckDBPyConnection,
    call: Mapping[str, Any],
    ks: Sequence[int],
    ls: Sequence[int],
    drawn: Drawn,
) -> list[dict[str, Any]]:
    """Return a row for each k and l, whose note says why if no release can satisfy the call."""
    try:
        with as_raised():
            return rows_of(con, _select(call, ks, ls, "*", "$most"), {"most": drawn.of_stars})
    except AnonError as error:
        if error.rule == STOPPED:
            raise
        note = error_text(error)
        none = {"classes": None, "note": note}
        return [{"k": k, "l": each, **none} for k in ks for each in ls]


def _call(con: duckdb.DuckDBPyConnection, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of tradeoff that are the same for all k and l."""
    names = {fold(name): name for name in con.table("raw").columns}
    models = [name for model in MODELS for name in model.parameters() if name not in _VARIED]
    call = {name: request.get(name) for name in (*models, "entity", "hierarchy")}
    call |= {
        role: [names.get(fold(name), name) for name in request[role]] or None
        for role in ("quasi", "sensitive")
    }
    used = {fold(name) for role in ("quasi", "sensitive") for name in call[role] or ()}
    used |= {fold(call["entity"])} if call["entity"] else set()
    others = [name for key, name in names.items() if key not in used]
    return {**call, "exclude": others or None}


def _statement(
    call: Mapping[str, Any], ks: Sequence[int], ls: Sequence[int], what: str = "*"
) -> str:
    """Return SQL of what releases would lose, a row for each k and l."""
    drawing = questions({name: call[name] for name in ("quasi", "hierarchy")})
    return f"{drawing}{_select(call, ks, ls, what, f'(SELECT mean FROM {STARS})')}"


def _select(
    call: Mapping[str, Any], ks: Sequence[int], ls: Sequence[int], what: str, most: str
) -> str:
    """Return the SELECT of what releases would lose; most: SQL of the error of a release of * ."""
    varied = {"ks": ks, "ls": ls, "seed": SEED, "queries": QUERIES}
    return (
        f"SELECT {what} FROM (SELECT k, l, classes, gcp, query_error / nullif({most}, 0) AS "
        f"query_error, len(lost_columns) / {len(call['quasi'])} AS columns, lost_columns, "
        "exposed_share, suppressed / (SELECT count(*) FROM raw) AS suppression_rate, note "
        f"FROM tradeoff('raw'{arguments(varied)}, {_QUICK}{arguments(call)}))"
    )


def _figures(
    call: Mapping[str, Any], row: Mapping[str, Any], names: Sequence[str]
) -> Iterator[Figure]:
    """Give figures of a release, each with the statement that tries it alone."""
    for name in names:
        sql = _statement(call, [row["k"]], [row["l"]], name)
        note = ", ".join(row["lost_columns"]) if name == "columns" else ""
        yield Figure(name, row[name], sql, note=note)


def _chosen(tried: Sequence[Tried], ks: Sequence[int], environment: str) -> tuple[int, str]:
    """Return the recommended k, and why."""
    made = {k: [each for each in tried if each.k == k and each.note is None] for k in ks}
    little = [k for k in ks if made[k] and not any(each.reasons for each in made[k])]
    least, chosen = ks[0], max(little, default=ks[0])
    why = f"{chosen} is the largest k that loses little, of {ks[0]}, {ks[1]} and {ks[2]}"
    if chosen == ks[-1] and little:
        return chosen, f"{why}: it reaches no limit of loss."
    if not little:
        why = f"{least} is the least for the environment “{environment}”"
    refused = least if not little else next(k for k in ks if k > chosen)
    return chosen, f"{why}. {_refused([each for each in tried if each.k == refused])}"


def _refused(tried: Sequence[Tried]) -> str:
    """Say why a k is not recommended, by the first of its releases that loses much."""
    for each in tried:
        if each.reasons:
            also = f" and l = {each.l}" if each.l > 1 else ""
            return f"With k = {each.k}{also}: {each.reasons[0].text}"
    return f"With k = {tried[0].k} there is no release: {tried[0].note}"
