"""Write the SQL that folds linked tables: for ``linked_risk`` and ``linked_audit``.

It shares no code with the release, whose folds are computed from arrays. A row has a hash of its
labels, and its fold is a hash of that and of the sorted folds of its rows below.
"""

from collections.abc import Callable, Sequence

from anon_sql.core.duckdb_internals.hashing import HASH
from anon_sql.core.names import literal, quote
from anon_sql.linked.schema import Node, Schema


class Folds:
    """CTEs over the tables of a schema.

    prefix: of their names, which begin with ``__anon_``. relation: returns the SQL of a table.
    added: whether the tables have the columns that a release adds. Each table has CTEs
    ``…rows_i`` (columns c0, … of keys and links, s0, … of sensitive values, label), ``…fold_i``
    (with fold) and ``…path_i`` (with person, class and path: its slot).
    """

    def __init__(
        self, schema: Schema, prefix: str, relation: Callable[[Node], str], *, added: bool
    ):
        self.schema, self.prefix, self.relation, self.added = schema, prefix, relation, added
        self.table_numbers = {name: number for number, name in enumerate(schema.nodes)}

    def name(self, kind: str, node: Node) -> str:
        """Return the name of a CTE of a table."""
        return f"{self.prefix}{kind}_{self.table_numbers[node.name]}"

    def key(self, node: Node, columns: Sequence[str], alias: str = "") -> list[str]:
        """Return keys or links as columns of the CTEs."""
        dot = f"{alias}." if alias else ""
        return [f"{dot}c{node.renewed.index(column)}" for column in columns]

    def on(self, child: Node, child_alias: str, parent_alias: str) -> str:
        """Return the condition that a row of a child is below a row of its parent."""
        assert child.link is not None
        child_key = self.key(child, child.link.columns, child_alias)
        parent_key = self.key(self.schema.parent(child), child.link.keys, parent_alias)
        return " AND ".join(f"{a} = {b}" for a, b in zip(child_key, parent_key, strict=True))

    def ctes(self) -> list[str]:
        """Return all CTEs, those of rows first, then folds from below, then paths from above."""
        nodes = list(self.schema.nodes.values())
        return [
            *(self._rows(node) for node in nodes),
            *(self._fold(node) for node in reversed(nodes)),
            *(self._path(node) for node in nodes),
        ]

    def labels(self, node: Node) -> list[str]:
        """Return the columns that the fold of a row holds."""
        added = [name for _, *names in self.schema.added(node) for name in names]
        return [quote(name) for name in (*node.quasi, *(added if self.added else ()))]

    def _rows(self, node: Node) -> str:
        columns = [f"{quote(name)} AS c{number}" for number, name in enumerate(node.renewed)]
        columns += [  # NULL, which is not a value for l, stays NULL
            f"CASE WHEN {quote(name)} IS NOT NULL THEN {HASH}({quote(name)}) END AS s{number}"
            for number, name in enumerate(node.sensitive)
        ]
        # 1, because DuckDB hashes 0 as 0, and lists of one and of two such hashes alike
        labels = f"{HASH}({', '.join(['1', *self.labels(node)])})"
        selected = ", ".join([*columns, f"{labels} AS label"])
        return (
            f"{self.name('rows', node)} AS MATERIALIZED "
            f"(SELECT {selected} FROM {self.relation(node)} AS __anon_source)"
        )

    def _fold(self, node: Node) -> str:
        """Return the CTE of the folds of a table; rows without children have an empty list."""
        parts, joins = ["r.label"], []
        for child in self.schema.children(node.name, "quasi"):
            alias = f"b{self.table_numbers[child.name]}"
            assert child.link is not None
            keys = ", ".join(self.key(child, child.link.columns))
            below = (
                f"SELECT {keys}, {HASH}(system.main.list_sort(system.main.list(fold))) "
                f"AS below FROM {self.name('fold', child)} GROUP BY {keys}"
            )
            joins.append(f" LEFT JOIN ({below}) AS {alias} ON {self.on(child, alias, 'r')}")
            parts.append(f"{alias}.below")
        fold = f"{HASH}({', '.join(parts)})"
        return (
            f"{self.name('fold', node)} AS MATERIALIZED (SELECT r.*, {fold} AS fold "
            f"FROM {self.name('rows', node)} AS r{''.join(joins)})"
        )

    def _path(self, node: Node) -> str:
        """Return the CTE of rows with their person, class and slot; rows below none are left."""
        if node.link is None:
            ids = "row_number() OVER () AS person, fold AS class, fold AS path"
            text = f"SELECT *, {ids} FROM {self.name('fold', node)}"
        else:
            is_countable = self.schema.is_countable(node.name)
            path = f"{HASH}(p.path, r.fold)" if is_countable else "p.path"
            text = (
                f"SELECT r.*, p.person, p.class, {path} AS path FROM {self.name('fold', node)} "
                f"AS r JOIN {self.name('path', self.schema.parent(node))} AS p "
                f"ON {self.on(node, 'r', 'p')}"
            )
        return f"{self.name('path', node)} AS MATERIALIZED ({text})"


def risk(schema: Schema, folds: Folds, k: int) -> str:
    """Return the statement of ``linked_risk``."""
    root = schema.nodes[schema.root]
    countable = [
        node for node in schema.nodes.values() if node.link and schema.is_countable(node.name)
    ]
    persons, counts, joins = folds.name("path", root), [], []
    for node in countable:
        number = folds.table_numbers[node.name]
        counts.append(f"coalesce(n{number}.n, 0)")
        joins.append(
            f" LEFT JOIN (SELECT person, count(*) AS n FROM {folds.name('path', node)} "
            f"GROUP BY person) AS n{number} ON n{number}.person = p.person"
        )
    numbered = f"{HASH}({', '.join(['p.label', *counts])})"
    rows = " UNION ALL ".join(
        f"SELECT person, {HASH}({folds.table_numbers[node.name]}, label) AS item "
        f"FROM {folds.name('path', node)}"
        for node in countable
    )
    rows = rows or "SELECT 0::BIGINT AS person, 0::UBIGINT AS item WHERE false"
    ctes = [
        *folds.ctes(),
        f"__anon_known AS MATERIALIZED (SELECT p.person, p.label AS own, {numbered} AS numbered, "
        f"p.fold AS whole FROM {persons} AS p{''.join(joins)})",
        f"__anon_items AS MATERIALIZED (SELECT DISTINCT person, item FROM ({rows}))",
        "__anon_tied AS MATERIALIZED (SELECT person, numbered, item "
        "FROM __anon_items JOIN __anon_known USING (person))",
        "__anon_shared AS MATERIALIZED (SELECT person, numbered, item, "
        "count(*) OVER (PARTITION BY numbered, item) AS n FROM __anon_tied)",
        "__anon_ranked AS MATERIALIZED (SELECT *, row_number() OVER "
        "(PARTITION BY person ORDER BY n, item) AS place FROM __anon_shared)",
        # the two rows of each person that fewest share, and how many people have both
        "__anon_pairs AS MATERIALIZED (SELECT a.person, a.numbered, a.item AS one, b.item AS other "
        "FROM (FROM __anon_ranked WHERE place = 1) AS a "
        "JOIN (FROM __anon_ranked WHERE place = 2) AS b ON a.person = b.person)",
        "__anon_both AS MATERIALIZED (SELECT q.one, q.other, q.numbered, count(*) AS n "
        "FROM (SELECT DISTINCT one, other, numbered FROM __anon_pairs) AS q "
        "JOIN __anon_tied AS a ON a.numbered = q.numbered AND a.item = q.one "
        "JOIN __anon_tied AS b ON b.person = a.person AND b.item = q.other GROUP BY ALL)",
    ]
    alone = "SELECT person, count(*) OVER (PARTITION BY {}) AS n FROM __anon_known"
    base = alone.format("numbered")
    one_row = (
        "SELECT k.person, coalesce(r.n, k.n) AS n FROM (" + base + ") AS k "
        "LEFT JOIN (FROM __anon_ranked WHERE place = 1) AS r ON r.person = k.person"
    )
    two_rows = (
        f"SELECT k.person, coalesce(b.n, k.n) AS n FROM ({one_row}) AS k "
        "LEFT JOIN __anon_pairs AS p ON p.person = k.person "
        "LEFT JOIN __anon_both AS b "
        "ON b.one = p.one AND b.other = p.other AND b.numbered = p.numbered"
    )
    levels = [
        ("own columns", alone.format("own")),
        ("and the number of rows", base),
        ("and one row", one_row),
        ("and two rows", two_rows),
        ("and all rows", alone.format("whole")),
    ]
    selects = [
        f"SELECT {number} AS __anon_at, {literal(name)} AS knowledge, count(*) AS persons, "
        f"count(*) FILTER (n = 1) AS unique_persons, count(*) FILTER (n < {int(k)}) AS below_k, "
        f"min(n) AS fewest FROM ({text})"
        for number, (name, text) in enumerate(levels)
    ]
    united = " UNION ALL ".join(selects)
    return f"WITH {', '.join(ctes)} SELECT * EXCLUDE (__anon_at) FROM ({united}) ORDER BY __anon_at"
