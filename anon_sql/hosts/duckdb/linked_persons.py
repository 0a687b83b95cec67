"""Write the SQL that counts the people behind unlinked rows: for ``linked_audit``.

A release does not tell whose its unlinked rows are. The raw rows that their labels cover tell
whose they can be: n rows of equal labels can be of j people, none of whom has more than 1/j of
them, if the people have enough such raw rows. The largest j is counted, and is an upper bound.
"""

from collections.abc import Iterator, Mapping

from anon_sql.core.columns import is_number
from anon_sql.core.names import quote
from anon_sql.linked.schema import Node


class PersonsBehind:
    """The CTEs that count the people behind unlinked rows of a table.

    at: a number of the table. unlinked: the query of its unlinked rows. owned: the raw rows with
    the column person, as a relation called t. labels: the released columns that tell sets of equal
    rows apart. types: SQL type by released column.
    """

    def __init__(
        self,
        node: Node,
        table_number: int,
        unlinked: str,
        owned: str,
        labels: list[str],
        types: Mapping[str, str],
    ):
        self.node, self.unlinked, self.owned, self.labels = node, unlinked, owned, labels
        self.types, self.prefix = types, f"__anon_u_{table_number}_"

    @property
    def result(self) -> str:
        """Return the CTE of the sets of equal labels: the n rows and the most people of each."""
        return self.prefix + "found"

    def ctes(self) -> Iterator[str]:
        """Yield the CTEs."""
        names = self.node.quasi
        columns = ", ".join(f"t.{quote(name)} AS v{number}" for number, name in enumerate(names))
        value_columns = ", ".join(f"v{number}" for number in range(len(names)))
        sets, rows, values = (self.prefix + kind for kind in ("sets", "rows", "values"))
        labels = [f"{quote(name)} AS l{number}" for number, name in enumerate(names)]
        shown = "".join(f", any_value({label.replace(' AS ', ') AS ')}" for label in labels)
        grouped = f"GROUP BY {', '.join(self.labels)}" if self.labels else "HAVING count(*) > 0"
        yield (
            f"{sets} AS MATERIALIZED (SELECT row_number() OVER () AS s, count(*) AS n{shown} "
            f"FROM {self.unlinked} {grouped})"
        )
        comma = ", " if columns else ""
        yield f"{rows} AS MATERIALIZED (SELECT person{comma}{columns} FROM {self.owned})"
        yield (
            f"{values} AS MATERIALIZED (SELECT row_number() OVER () AS t{comma}{value_columns} "
            f"FROM (SELECT DISTINCT {value_columns or '1'} FROM {rows}))"
        )
        joins = ""
        for number, name in enumerate(names):
            cover = f"{self.prefix}cover_{number}"
            yield self._cover(cover, number, name, sets, values)
            joins += (
                f" JOIN {cover} AS c{number} ON c{number}.l IS NOT DISTINCT FROM u.l{number} "
                f"AND c{number}.v IS NOT DISTINCT FROM t.v{number}"
            )
        same_values = " AND ".join(
            f"r.v{number} IS NOT DISTINCT FROM t.v{number}" for number in range(len(names))
        )
        yield (
            f"{self.prefix}held AS MATERIALIZED (SELECT u.s, u.n, r.person, count(*) AS many "
            f"FROM {sets} AS u CROSS JOIN {values} AS t{joins} "
            f"JOIN {rows} AS r ON {same_values or 'true'} GROUP BY u.s, u.n, r.person)"
        )
        most = (
            "list_max(list_filter(range(1, n + 1), lambda j: "
            "list_sum(list_transform(many, lambda m: least(m, n // j))) >= n))"
        )
        yield (
            f"{self.result} AS MATERIALIZED (SELECT s, n, CASE WHEN persons >= n THEN n "
            f"ELSE coalesce({most}, 0) END AS persons FROM (SELECT u.s, u.n, "
            "count(h.person) AS persons, "
            "list(h.many) FILTER (h.person IS NOT NULL AND h.many > 0) AS many "
            f"FROM {sets} AS u LEFT JOIN {self.prefix}held AS h ON h.s = u.s GROUP BY u.s, u.n))"
        )

    def _cover(self, cover: str, number: int, name: str, sets: str, values: str) -> str:
        """Return the CTE of the raw values that each label covers; all, for one that covers none.

        Such a label is a name out of a hierarchy, or a mean.
        """
        kind = self.node.table.types[name]
        covers = _covers(self.types[name], kind, is_number("linked_audit", name, kind))
        return (
            f"{cover} AS MATERIALIZED (SELECT l, v FROM (SELECT l, v, hit, "
            "bool_or(hit) OVER (PARTITION BY l) AS any_hit FROM (SELECT l, v, "
            f"coalesce({covers}, false) AS hit FROM (SELECT DISTINCT l{number} AS l FROM {sets}), "
            f"(SELECT DISTINCT v{number} AS v FROM {values}))) WHERE hit OR NOT any_hit)"
        )


def _covers(shown: str, kind: str, number: bool) -> str:
    """Return whether a label l covers a value v; shown, kind: their SQL types."""
    if shown == "VARCHAR":
        ends = f"v BETWEEN TRY_CAST(anon_min(l) AS {kind}) AND TRY_CAST(anon_max(l) AS {kind})"
        inside = ends if number else "list_contains(anon_values(l), v::VARCHAR)"
        return f"CASE WHEN l IS NULL THEN v IS NULL ELSE l = '*' OR ({inside}) END"
    if shown.startswith("STRUCT("):
        return (
            "CASE WHEN l IS NULL THEN true WHEN l.min IS NULL THEN v IS NULL "
            "ELSE v BETWEEN l.min AND l.max END"
        )
    if shown == "VARCHAR[]":
        return (
            "CASE WHEN l IS NULL THEN true WHEN len(l) = 0 THEN v IS NULL "
            "ELSE list_contains(l, v::VARCHAR) END"
        )
    return "true"
