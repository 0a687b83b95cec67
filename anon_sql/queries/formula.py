"""A condition as a tree of blocks, each of one quasi-identifier or of kept columns alone.

SQL's logic has three values. Only whether a condition is *true* matters to a query, so NOT is
moved down to the comparisons (De Morgan's laws hold with NULL too) and from there on a node
is true where all (AND) or any (OR) of its parts are. Parts on one column are one block: its
truth is looked up in the column's values, as exact as the values themselves.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from sqlglot import exp

from anon_sql.core.roles import fold
from anon_sql.errors import AnonError

KEPT = ""  # the owner of a block that names no quasi-identifier


@dataclass(frozen=True)
class Block:
    """sql: a condition, every name quoted; node: the same as a tree; owner: folded name of its
    quasi-identifier or KEPT; constants: what it compares the column with, as text."""

    owner: str
    sql: str
    constants: tuple[str, ...]
    node: exp.Expression = field(compare=False)


@dataclass(frozen=True)
class Join:
    """Parts that do not share a column, unless a part is itself a Join."""

    every: bool  # AND, else OR
    parts: tuple["Block | Join", ...]


Formula: TypeAlias = Block | Join


def formula(
    function: str, condition: exp.Expression | None, not_null: Sequence[str], quasi: Collection[str]
) -> Formula:
    """The formula of a condition and of columns that must not be NULL; quasi: folded names."""
    present: list[exp.Expression] = [
        exp.Not(
            this=exp.Is(
                this=exp.column(exp.to_identifier(name, quoted=True)), expression=exp.Null()
            )
        )
        for name in not_null
    ]
    whole = [_positive(condition, False)] if condition is not None else []
    return _build(function, True, [*whole, *present], quasi)


def blocks(tree: Formula) -> list[Block]:
    """The blocks from left to right."""
    if isinstance(tree, Block):
        return [tree]
    return [block for part in tree.parts for block in blocks(part)]


def _positive(node: exp.Expression, negated: bool) -> exp.Expression:
    """The same without NOT above a comparison, and without brackets."""
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
    """The quasi-identifiers of a node, and KEPT where a comparison names none."""
    if isinstance(node, (exp.And, exp.Or)):
        return _owners(function, node.this, quasi) | _owners(function, node.expression, quasi)
    names = {fold(column.name) for column in node.find_all(exp.Column)}
    found = names & set(quasi)
    if found and len(names) > 1:
        raise AnonError(
            function,
            "a quasi-identifier is compared with constants only",
            "a comparison of two columns in WHERE",
        )
    return found or {KEPT}


def _block(owner: str, nodes: Sequence[exp.Expression], every: bool) -> Block:
    shown = [
        f"({_sql(node)})" if isinstance(node, (exp.And, exp.Or)) and len(nodes) > 1 else _sql(node)
        for node in nodes
    ]
    constants = dict.fromkeys(text for node in nodes for text in _constants(node))
    whole = nodes[0]
    for node in nodes[1:]:
        whole = (exp.And if every else exp.Or)(this=whole.copy(), expression=node.copy())
    return Block(owner, (" AND " if every else " OR ").join(shown), tuple(constants), whole)


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
