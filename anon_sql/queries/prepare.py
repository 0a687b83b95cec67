"""The queries of a call, parsed, and what has to be known to answer them."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp

from anon_sql.core.roles import fold
from anon_sql.errors import AnonError
from anon_sql.queries.formula import KEPT, Block, Formula, blocks, formula
from anon_sql.queries.query import Query, parse


@dataclass(frozen=True)
class Workload:
    """Queries and what they need. columns: name as first written, by folded name, of every
    quasi-identifier (``quasi``) and kept column; truths: the blocks on each, KEPT among them, as
    SQL and as trees; groups, numbers: kept columns, as first written, that queries group by and
    aggregate."""

    queries: tuple[Query, ...]
    formulas: tuple[Formula, ...]
    quasi: dict[str, str]
    kept: dict[str, str]
    truths: dict[str, dict[str, exp.Expression]]
    constants: dict[str, list[str]]
    groups: list[str]
    numbers: list[str]


@lru_cache(maxsize=4)
def prepare(
    function: str, relation: str, texts: tuple[str, ...], quasi: frozenset[str]
) -> Workload:
    """Parse the queries; quasi: folded names. Raises AnonError for what is not allowed."""
    found = Workload((), (), {}, {}, {}, {}, [], [])
    queries, formulas = [], []
    for text in texts:
        query = parse(function, text, relation)
        needed = [] if query.column is None else [query.column]
        try:
            tree = formula(function, query.where, needed, quasi)
        except RecursionError:
            raise AnonError(
                function, "a condition must be readable", "too many parts", "use IN"
            ) from None
        _require_kept(function, query, quasi)
        queries.append(query)
        formulas.append(tree)
        for name in _names(query):
            known = found.quasi if fold(name) in quasi else found.kept
            known.setdefault(fold(name), name)
        for block in blocks(tree):
            _file(found, block)
        for name in query.groups:
            _add(found.groups, fold(name))
        if query.column is not None and query.aggregate != "count":
            _add(found.numbers, fold(query.column))
    return Workload(
        tuple(queries),
        tuple(formulas),
        found.quasi,
        found.kept,
        found.truths,
        found.constants,
        found.groups,
        found.numbers,
    )


def _require_kept(function: str, query: Query, quasi: Collection[str]) -> None:
    if query.aggregate != "count" and fold(query.column or "") in quasi:
        got = f"{query.aggregate} of a quasi-identifier"
        raise AnonError(function, "sum, avg, min and max are of kept columns", got, "count it")
    if any(fold(name) in quasi for name in query.groups):
        got = "a quasi-identifier in GROUP BY"
        raise AnonError(function, "queries group by kept columns", got, "write it in WHERE")


def _names(query: Query) -> list[str]:
    found = [] if query.where is None else [c.name for c in query.where.find_all(exp.Column)]
    return [*found, *query.groups, *([] if query.column is None else [query.column])]


def _file(found: Workload, block: Block) -> None:
    found.truths.setdefault(block.owner, {}).setdefault(block.sql, block.node)
    for constant in block.constants if block.owner != KEPT else ():
        _add(found.constants.setdefault(block.owner, []), constant)


def _add(to: list[str], item: str) -> None:
    if item not in to:
        to.append(item)
