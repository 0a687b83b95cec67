"""Measure what linked tables tell by kept columns and in classes, by person, for their verdict.

The SQL of each figure reads the released tables as the verdict sees them, and the raw ones.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import duckdb

from anon_sql.apps.verdict.figures import Figure
from anon_sql.attacks.inference import RARER_ERRORS, Inference
from anon_sql.core.arrow import integers
from anon_sql.core.duckdb_internals.hashing import HASH
from anon_sql.core.names import quote
from anon_sql.core.parameters import parameters_of
from anon_sql.hosts.duckdb.linked_folds import Folds
from anon_sql.linked.schema import Node, Schema
from anon_sql.measures.determined import SAMPLE_ROWS, Ints, determines, keys_of, numbered

SURE = parameters_of(Inference)["sure"].default
Sql = Callable[[str], str]


@dataclass(frozen=True)
class LinkedTables:
    """Released linked tables beside the raw ones.

    raw, released: return the SQL of a table by its name. k: people that a class must have.
    """

    con: duckdb.DuckDBPyConnection
    schema: Schema
    raw: Sql
    released: Sql
    k: int

    def figures(self) -> Iterator[Figure]:
        """Give the figures of every table."""
        folds = Folds(self.schema, "__anon_s_", lambda node: self.released(node.name), added=True)
        for node in self.schema.nodes.values():
            kept = node.of_role("keep")
            if kept:
                yield self._figure("rare", self._rare(node, kept), node.name, kept)
                computed = self._determined(node, kept)
                if computed:
                    names = list(computed)
                    sql = self._standing_out(node, list(computed.values()))
                    yield self._figure("determined", sql, node.name, names)
            yield from self._revealing(node)
            for position, name in enumerate(node.sensitive):
                for figure, sql in _inference(self.schema, folds, node, position).items():
                    yield self._figure(figure, sql, f"{node.name}.{name}")

    def _figure(self, name: str, sql: str, column: str, names: Sequence[str] = ()) -> Figure:
        ((value,),) = self.con.execute(sql).fetchall()
        listed = ", ".join(f"{column}.{each}" for each in names)
        return Figure(name, value or 0.0, sql, column, listed)

    def _way(self, node: Node) -> list[Node]:
        """Return a table and all above it, the root last."""
        lineage = [node]
        while lineage[-1].link is not None:
            lineage.append(self.schema.parent(lineage[-1]))
        return lineage

    def _joined(self, node: Node, relation: Sql) -> tuple[str, str]:
        """Return the rows of a table with all rows above as t0, t1, …, and whose each row is."""
        way = self._way(node)
        text = f"{relation(node.name)} AS t0"
        for level, (below, above) in enumerate(pairwise(way)):
            assert below.link is not None
            pairs = zip(below.link.columns, below.link.keys, strict=True)
            on = " AND ".join(f"t{level}.{quote(a)} = t{level + 1}.{quote(b)}" for a, b in pairs)
            text += f" JOIN {relation(above.name)} AS t{level + 1} ON {on}"
        if len(way) == 1:
            return text, "row_number() OVER ()"
        link = way[-2].link
        assert link is not None
        keys = ", ".join(f"t{len(way) - 1}.{quote(key)}" for key in link.keys)
        return text, f"{HASH}({keys})"

    def _rare(self, node: Node, kept: Sequence[str]) -> str:
        """Return the SQL of the share of rows whose kept values fewer than k people have."""
        joined, person = self._joined(node, self.released)
        columns = ", ".join(f"t0.{quote(name)} AS k{number}" for number, name in enumerate(kept))
        keys = ", ".join(f"k{number}" for number in range(len(kept)))
        return (
            f"SELECT sum(n) FILTER (people < {self.k}) / sum(n) FROM (SELECT count(*) AS n, "
            f"count(DISTINCT person) AS people FROM (SELECT {columns}, {person} AS person "
            f"FROM {joined}) GROUP BY {keys})"
        )

    def _codes(self, node: Node, columns: Sequence[str]) -> list[Ints]:
        """Return numbers of the raw values of columns of joined rows, each row once per person."""
        joined, person = self._joined(node, self.raw)
        named = ", ".join(f"{HASH}({text}) AS c{number}" for number, text in enumerate(columns))
        table = self.con.sql(
            f"SELECT * EXCLUDE (person) FROM (SELECT DISTINCT {person} AS person, {named} "
            f"FROM {joined})"
        ).to_arrow_table()
        step = table.num_rows // SAMPLE_ROWS + 1
        return [numbered(integers(each.combine_chunks())[::step]) for each in table.columns]

    def _determined(self, node: Node, kept: Sequence[str]) -> dict[str, str]:
        """Return the SQL of what an attacker computes, by kept column that repeats a
        quasi-identifier."""
        quasi = [
            f"t{level}.{quote(name)}"
            for level, above in enumerate(self._way(node))
            for name in above.quasi
        ]
        kept_sql = [f"t0.{quote(name)}" for name in kept]
        codes = self._codes(node, [*quasi, *kept_sql]) if quasi else []
        quasi_codes = dict(zip(quasi, codes, strict=False))
        keys = [key for _, key in keys_of(quasi_codes)] if quasi else []
        computed = {}
        for name, text, value in zip(kept, kept_sql, codes[len(quasi) :], strict=False):
            if len(value) and any(determines(key, value) for key in keys):
                computed[name] = text
                continue
            for column, key in quasi_codes.items():
                if len(value) and determines(value, key):
                    joined, _ = self._joined(node, self.raw)
                    computed[name] = (
                        f"(SELECT any_value(m.q) FROM (SELECT {text} AS c, mode({column}) AS q "
                        f"FROM {joined} GROUP BY {text}) AS m WHERE m.c = shown.{quote(name)})"
                    )
        return computed

    def _standing_out(self, node: Node, computed: Sequence[str]) -> str:
        """Return the SQL of the share of rows that fewer than k people of their class can have."""
        joined, person = self._joined(node, self.released)
        labels = []
        for level, above in enumerate(self._way(node)):
            added = [name for _, *names in self.schema.added(above) for name in names]
            labels += [f"t{level}.{quote(name)}" for name in (*above.quasi, *added)]
        texts = [each.replace("shown.", "t0.") for each in computed]
        parts = ", ".join(f"{text} AS p{number}" for number, text in enumerate(texts))
        keys = ", ".join(["class", *(f"p{number}" for number in range(len(texts)))])
        rows = f"SELECT {HASH}({', '.join(['1', *labels])}) AS class, {parts}, {person} AS person"
        return (
            f"WITH __anon_shown AS MATERIALIZED ({rows} FROM {joined}), "
            "__anon_sizes AS (SELECT class, count(DISTINCT person) AS whole "
            "FROM __anon_shown GROUP BY 1) "
            f"SELECT sum(n) FILTER (people < {self.k} AND people < whole) / sum(n) FROM "
            "(SELECT class, count(*) AS n, count(DISTINCT person) AS people FROM __anon_shown "
            f"GROUP BY {keys}) JOIN __anon_sizes USING (class)"
        )

    def _revealing(self, node: Node) -> Iterator[Figure]:
        """Give the kept columns of a table, and of those above, that determine a sensitive one."""
        way = self._way(node)
        kept = {
            f"{above.name}.{name}": f"t{level}.{quote(name)}"
            for level, above in enumerate(way)
            for name in above.of_role("keep")
        }
        sensitive = node.sensitive
        if not kept or not sensitive:
            return
        codes = self._codes(node, [*kept.values(), *(f"t0.{quote(name)}" for name in sensitive)])
        for name, value in zip(sensitive, codes[len(kept) :], strict=True):
            for column, key in zip(kept, codes, strict=False):
                if len(key) and determines(key, value):
                    yield Figure("revealing", 1.0, "", f"{node.name}.{name}", column)


def _inference(schema: Schema, folds: Folds, node: Node, position: int) -> dict[str, str]:
    """Return the SQL of the share of people whose class has one value of a sensitive column, or
    nearly one. A person has a value if any of the person's rows has it."""
    root, path = folds.name("path", schema.nodes[schema.root]), folds.name("path", node)
    ctes = ", ".join(
        [
            *folds.ctes(),
            f"__anon_v AS (SELECT DISTINCT class, person, s{position} AS value FROM {path} "
            f"WHERE s{position} IS NOT NULL)",
            f"__anon_sizes AS (SELECT class, count(*) AS n FROM {root} GROUP BY class)",
            "__anon_known AS (SELECT class, count(DISTINCT person) AS people FROM __anon_v "
            "GROUP BY class)",
            "__anon_all AS (SELECT value, count(DISTINCT person) "
            "/ (SELECT count(DISTINCT person) FROM __anon_v) AS before "
            "FROM __anon_v GROUP BY value)",
            "__anon_shares AS (SELECT class, value, count(*) / any_value(people) AS share "
            "FROM __anon_v JOIN __anon_known USING (class) GROUP BY class, value)",
            "__anon_certain AS (SELECT DISTINCT class FROM __anon_shares WHERE share >= 1)",
            "__anon_inferred AS (SELECT DISTINCT class FROM __anon_shares "
            "JOIN __anon_all USING (value) WHERE share >= CASE "
            "WHEN before = (SELECT max(before) FROM __anon_all) "
            f"THEN greatest({SURE}, 1 - (1 - before) / {RARER_ERRORS}) ELSE {SURE} END "
            "AND 1 - share <= (1 - before) / 2 AND class NOT IN (FROM __anon_certain))",
        ]
    )
    return {
        name: f"WITH {ctes} SELECT coalesce(sum(n) FILTER "
        f"(class IN (FROM __anon_{name})), 0) / sum(n) FROM __anon_sizes"
        for name in ("certain", "inferred")
    }
