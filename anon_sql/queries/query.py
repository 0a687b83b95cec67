"""Parse a user's query, refuse all but a few harmless clauses, and split its condition by column.

The parser has a list of allowed clauses. A part of sqlglot's tree that is not named here is an
error, so a query can neither read another table nor call a function.

A condition becomes a tree of blocks, each of one quasi-identifier or of kept columns alone. SQL's
logic has three values, but only whether a condition is *true* matters to a query. NOT is therefore
pushed down to the comparisons (De Morgan's laws hold with NULL too). A node above them is true if
all (AND) or any (OR) of its parts are. Parts on one column are one block, whose truth is looked up
in the column's values.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import TYPE_CHECKING, TypeAlias

from anon_sql.core import stopping
from anon_sql.core.names import split
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError

if TYPE_CHECKING:
    from sqlglot import exp
else:
    from anon_sql.core import sql_trees as exp

_TYPED = ("DATE", "TIME", "TIMESTAMP", "TIMESTAMPTZ")  # DATE '2020-01-01'
_EXACT = 2**53
ALLOWED = "SELECT count(*) FROM adult WHERE age > 40 AND sex = 'Female' is what one may look like"


@cache
def _aggregates() -> Mapping[type[exp.Expression], str]:
    return {
        exp.Count: "count",
        exp.Sum: "sum",
        exp.Avg: "avg",
        exp.Min: "min",
        exp.Max: "max",
    }


@dataclass(frozen=True)
class Query:
    """A parsed query. aggregate: its name. column: its argument, None for count(*). where: the
    condition, every name quoted and unqualified. groups: the columns of GROUP BY."""

    text: str
    aggregate: str
    column: str | None
    where: exp.Expression | None
    groups: tuple[str, ...]

    @property
    def call(self) -> str:
        """The aggregate as SQL."""
        inside = "*" if self.column is None else exp.to_identifier(self.column, quoted=True).sql()
        return f"{self.aggregate}({inside})"


def parse(function: str, text: object, relation: str) -> Query:
    """Return the query, or raise AnonError that names a clause that is not allowed.

    relation: the raw table as the call names it; the query may also call it ``raw``.
    """
    if not isinstance(text, str):
        raise AnonError(function, "a query must be a text", "NULL", ALLOWED)
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        statements = sqlglot.parse(text, read="duckdb")
    except (SqlglotError, RecursionError):
        raise AnonError(function, "a query must be SQL", "what cannot be parsed", ALLOWED) from None
    if len(statements) != 1:
        raise AnonError(function, "a query must be one SELECT", f"{len(statements)} statements")
    select = statements[0]
    if not isinstance(select, exp.Select):
        got = "nothing" if select is None else select.key.upper()
        raise AnonError(function, "a query must be one SELECT", got, ALLOWED)
    try:
        return _query(function, text, select, relation)
    except RecursionError:
        raise AnonError(function, "a query must be readable", "too many brackets") from None


def _query(function: str, text: str, select: exp.Select, relation: str) -> Query:
    _require_parts(function, select, ("expressions", "from", "from_", "where", "group"))
    source = select.args.get("from_") or select.args.get("from")
    if source is None:
        raise _refused(function, "a SELECT without FROM")
    _require_table(function, source, relation)
    grouped = select.args.get("group")
    groups: tuple[str, ...] = ()
    if grouped is not None:
        _require_parts(function, grouped, ("expressions",), "GROUP BY")
        groups = tuple(_column(function, part, "GROUP BY") for part in grouped.expressions)
        if not groups:
            raise _refused(function, "GROUP BY ALL")
    outputs = [_output(function, part, groups) for part in select.expressions]
    calls = [output for output in outputs if output is not None]
    if len(calls) != 1:
        raise AnonError(
            function,
            "a query must have one count, sum, avg, min or max",
            f"{len(calls)}",
            "write one query for each",
        )
    where = select.args.get("where")
    condition = None if where is None else where.this
    if condition is not None:
        _require_condition(function, condition)
        condition = condition.copy()
        for column in condition.find_all(exp.Column):
            column.replace(exp.column(exp.to_identifier(column.name, quoted=True)))
    return Query(text, *calls[0], condition, groups)


def _require_table(function: str, source: exp.Expression, relation: str) -> None:
    table = source.this
    if not isinstance(table, exp.Table):
        raise _refused(function, f"{table.key.upper()} in FROM")
    _require_parts(function, table, ("this", "db", "catalog"), "FROM")
    if not isinstance(table.this, exp.Identifier):
        raise _refused(function, "a function in FROM")
    parts = [fold(part.name) for part in table.parts]
    wanted = [fold(part) for part in split(relation)]
    if parts not in (wanted, [fold(relation)], ["raw"]):
        raise AnonError(
            function,
            "a query must read the raw table alone",
            "another table in FROM",
            f"write FROM raw or FROM {relation}",
        )


def _output(
    function: str, node: exp.Expression, groups: tuple[str, ...]
) -> tuple[str, str | None] | None:
    """Return the aggregate and its column for a column of the result, None for one of GROUP BY."""
    if isinstance(node, exp.Alias):
        node = node.this
    name = _aggregates().get(type(node))
    if name is None:
        if isinstance(node, exp.Column):
            column = _column(function, node, "SELECT")
            if fold(column) in {fold(group) for group in groups}:
                return None
            raise _refused(function, "a column that is not in GROUP BY in SELECT")
        raise _refused(function, f"{_clause(node)} in SELECT")
    extra = [key for key, value in node.args.items() if value and key not in ("this", "big_int")]
    if extra or (isinstance(node.this, exp.Star) and name != "count"):
        raise _refused(function, f"{_clause(node)} of more than one column")
    if isinstance(node.this, exp.Star) or (name == "count" and node.this is None):
        return name, None
    return name, _column(function, node.this, name)


def _require_condition(function: str, node: exp.Expression) -> None:
    if isinstance(node, (exp.And, exp.Or)):
        _require_condition(function, node.this)
        _require_condition(function, node.expression)
    elif isinstance(node, (exp.Not, exp.Paren)):
        _require_condition(function, node.this)
    elif isinstance(node, (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)):
        _require_parts(function, node, ("this", "expression"), "WHERE")
        sides = [node.this, node.expression]
        for side in sides:
            _require_value(function, side)
        if not any(isinstance(side, exp.Column) for side in sides):
            raise _refused(function, f"{_clause(node)} without a column in WHERE")
    elif isinstance(node, exp.Between):
        _require_parts(function, node, ("this", "low", "high"), "BETWEEN")
        _column(function, node.this, "BETWEEN")
        for side in (node.args["low"], node.args["high"]):
            _require_constant(function, side)
    elif isinstance(node, exp.In):
        _require_parts(function, node, ("this", "expressions"), "IN")
        _column(function, node.this, "IN")
        for item in node.expressions:
            _require_constant(function, item)
    elif isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        _column(function, node.this, "IS NULL")
    elif isinstance(node, exp.Like):
        _require_parts(function, node, ("this", "expression", "negate"), "LIKE")
        _column(function, node.this, "LIKE")
        _require_constant(function, node.expression)
    else:
        raise _refused(function, f"{_clause(node)} in WHERE")


def _require_value(function: str, node: exp.Expression) -> None:
    if isinstance(node, exp.Column):
        _column(function, node, "WHERE")
    else:
        _require_constant(function, node)


def _require_constant(function: str, node: exp.Expression) -> None:
    inner = node.this if isinstance(node, exp.Neg) else node
    if isinstance(inner, exp.Cast) and type(inner) is exp.Cast and inner is node:
        kind = inner.args["to"]
        plain = isinstance(inner.this, exp.Literal) and inner.this.is_string
        if plain and kind.sql(dialect="duckdb") in _TYPED:
            return
    if type(inner) is exp.Boolean and inner is node:
        return
    if type(inner) is not exp.Literal or (inner is not node and inner.is_string):
        raise _refused(function, f"{_clause(node)} in WHERE")
    if not inner.is_string and "e" in inner.name.lower() and abs(float(inner.name)) > _EXACT:
        raise _refused(function, "a number with an exponent beyond 2^53")


def _column(function: str, node: exp.Expression, where: str) -> str:
    if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
        raise _refused(function, f"{_clause(node)} in {where}")
    if any(value for key, value in node.args.items() if key != "this"):
        raise _refused(function, f"a qualified column in {where}")
    if fold(node.name).startswith("__anon_"):
        raise _refused(function, "a column whose name begins with __anon_")
    return node.name


def _require_parts(
    function: str, node: exp.Expression, allowed: tuple[str, ...], where: str = ""
) -> None:
    for key, value in node.args.items():
        if value and key not in allowed:
            clause = key.strip("_").replace("_", " ").upper()
            raise _refused(function, f"{clause} in {where}" if where else clause)


def _clause(node: exp.Expression) -> str:
    """Return a clause as an error names it: its kind or the name of a function, without
    arguments."""
    if isinstance(node, exp.Anonymous):
        return f"the function {node.name}"
    if isinstance(node, exp.Func) and not isinstance(node, (exp.And, exp.Or, exp.Cast)):
        return f"the function {node.sql_name().lower()}"
    return node.key.upper()


def _refused(function: str, clause: str) -> AnonError:
    return AnonError(function, "a query holds what is not allowed", clause, ALLOWED)


KEPT = ""  # the owner of a block that names no quasi-identifier


@dataclass(frozen=True)
class Block:
    """A condition on one owner. owner: folded name of the quasi-identifier, or KEPT. sql: the
    condition, every name quoted. constants: texts that it compares the column with. node: the
    condition as a tree."""

    owner: str
    sql: str
    constants: tuple[str, ...]
    node: exp.Expression = field(compare=False)


@dataclass(frozen=True)
class Join:
    """Parts that do not share a column, unless a part is itself a Join."""

    every: bool  # AND, else OR
    parts: tuple[Block | Join, ...]


Formula: TypeAlias = Block | Join


def formula(
    function: str, condition: exp.Expression | None, not_null: Sequence[str], quasi: Collection[str]
) -> Formula:
    """Return the formula of a condition, and of columns that must not be NULL; quasi: folded
    names."""
    present: list[exp.Expression] = [
        exp.Not(
            this=exp.Is(
                this=exp.column(exp.to_identifier(name, quoted=True)), expression=exp.Null()
            )
        )
        for name in not_null
    ]
    conditions = [_positive(condition, False)] if condition is not None else []
    return _build(function, True, [*conditions, *present], quasi)


def blocks(tree: Formula) -> list[Block]:
    """Return the blocks from left to right."""
    if isinstance(tree, Block):
        return [tree]
    return [block for part in tree.parts for block in blocks(part)]


def _positive(node: exp.Expression, negated: bool) -> exp.Expression:
    """Push NOT down to the comparisons, and remove brackets."""
    if isinstance(node, exp.Paren):
        return _positive(node.this, negated)
    if isinstance(node, exp.Not):
        return _positive(node.this, not negated)
    if isinstance(node, (exp.And, exp.Or)):
        every = isinstance(node, exp.And) != negated
        sides = (_positive(node.this, negated), _positive(node.expression, negated))
        return (exp.And if every else exp.Or)(this=sides[0], expression=sides[1])
    return exp.Not(this=exp.Paren(this=node.copy())) if negated else node.copy()


def _build(
    function: str, every: bool, nodes: Sequence[exp.Expression], quasi: Collection[str]
) -> Formula:
    kind = exp.And if every else exp.Or
    flat: list[exp.Expression] = []
    waiting = list(nodes)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, kind):
            waiting[:0] = [node.this, node.expression]
        else:
            flat.append(node)
    owned: dict[str, list[exp.Expression]] = {}
    mixed: list[Formula] = []
    for node in flat:
        owners = _owners(function, node, quasi)
        if len(owners) == 1:
            owned.setdefault(next(iter(owners)), []).append(node)
        else:
            mixed.append(_build(function, not every, [node], quasi))
    parts = [*(_block(owner, members, every) for owner, members in owned.items()), *mixed]
    return parts[0] if len(parts) == 1 else Join(every, tuple(parts))


def _owners(function: str, node: exp.Expression, quasi: Collection[str]) -> set[str]:
    """Return the quasi-identifiers of a node, and KEPT if a comparison names none."""
    if isinstance(node, (exp.And, exp.Or)):
        return _owners(function, node.this, quasi) | _owners(function, node.expression, quasi)
    names = {fold(column.name) for column in node.find_all(exp.Column)}
    owners = names & set(quasi)
    if owners and len(names) > 1:
        raise AnonError(
            function,
            "a quasi-identifier is compared with constants only",
            "a comparison of two columns in WHERE",
        )
    return owners or {KEPT}


def _block(owner: str, nodes: Sequence[exp.Expression], every: bool) -> Block:
    texts = [
        f"({_sql(node)})" if isinstance(node, (exp.And, exp.Or)) and len(nodes) > 1 else _sql(node)
        for node in nodes
    ]
    constants = dict.fromkeys(text for node in nodes for text in _constants(node))
    combined = nodes[0]
    for node in nodes[1:]:
        combined = (exp.And if every else exp.Or)(this=combined.copy(), expression=node.copy())
    return Block(owner, (" AND " if every else " OR ").join(texts), tuple(constants), combined)


def _sql(node: exp.Expression) -> str:
    if isinstance(node, exp.Not):
        inner = node.this.this if isinstance(node.this, exp.Paren) else node.this
        if isinstance(inner, exp.Is):
            return f"{inner.this.sql(dialect='duckdb', comments=False)} IS NOT NULL"
        return f"NOT ({inner.sql(dialect='duckdb', comments=False)})"
    if isinstance(node, (exp.And, exp.Or)):
        word = " AND " if isinstance(node, exp.And) else " OR "
        return word.join(
            f"({_sql(side)})" if isinstance(side, (exp.And, exp.Or)) else _sql(side)
            for side in (node.this, node.expression)
        )
    return node.sql(dialect="duckdb", comments=False)


def _constants(node: exp.Expression) -> list[str]:
    return [
        f"-{literal.name}" if isinstance(literal.parent, exp.Neg) else literal.name
        for literal in node.find_all(exp.Literal)
    ]


@dataclass(frozen=True)
class Workload:
    """Queries and the columns that they use.

    quasi, kept: names as first written, by folded name. truths: the blocks of each owner, KEPT
    among them, as SQL and as trees. constants: of each quasi-identifier. groups, numbers: folded
    names of kept columns by which queries group, and that they aggregate.
    """

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
    work = Workload((), (), {}, {}, {}, {}, [], [])
    queries, formulas = [], []
    for text in texts:
        stopping.check(function)
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
            names = work.quasi if fold(name) in quasi else work.kept
            names.setdefault(fold(name), name)
        for block in blocks(tree):
            _add_block(work, block)
        for name in query.groups:
            _add(work.groups, fold(name))
        if query.column is not None and query.aggregate != "count":
            _add(work.numbers, fold(query.column))
    return Workload(
        tuple(queries),
        tuple(formulas),
        work.quasi,
        work.kept,
        work.truths,
        work.constants,
        work.groups,
        work.numbers,
    )


def _require_kept(function: str, query: Query, quasi: Collection[str]) -> None:
    if query.aggregate != "count" and fold(query.column or "") in quasi:
        got = f"{query.aggregate} of a quasi-identifier"
        raise AnonError(function, "sum, avg, min and max are of kept columns", got, "count it")
    if any(fold(name) in quasi for name in query.groups):
        got = "a quasi-identifier in GROUP BY"
        raise AnonError(function, "queries group by kept columns", got, "write it in WHERE")


def _names(query: Query) -> list[str]:
    names = [] if query.where is None else [c.name for c in query.where.find_all(exp.Column)]
    return [*names, *query.groups, *([] if query.column is None else [query.column])]


def _add_block(work: Workload, block: Block) -> None:
    work.truths.setdefault(block.owner, {}).setdefault(block.sql, block.node)
    for constant in block.constants if block.owner != KEPT else ():
        _add(work.constants.setdefault(block.owner, []), constant)


def _add(to: list[str], item: str) -> None:
    if item not in to:
        to.append(item)
