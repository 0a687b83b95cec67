"""Write the SQL of ``linked_audit``: what released tables must have, counted anew.

It shares no code with the release. Each property is a row: what is required, what was found, and
whether that passes; the example has counts and names, never a value.
"""

from collections.abc import Callable, Iterator, Mapping

from anon_sql.core.duckdb_internals.hashing import HASH
from anon_sql.core.names import literal, quote
from anon_sql.core.roles import fold
from anon_sql.hosts.duckdb.linked_folds import Folds
from anon_sql.hosts.duckdb.linked_persons import PersonsBehind
from anon_sql.linked.schema import Node, Schema

_TRUTH = (
    "true_labels",
    "kept_values",
    "label_spelling",
)  # properties of ``audit`` for the rows of a table
_OF_ROOT = (*_TRUTH, "covered_rows", "matched_rows")  # every person is released
REFERENCE_ROWS = "reference_rows of "
_RECORD = "record hash"  # of the kept values of a row and of all rows that stay with it


class LinkedAudit:
    """The checks of the released tables of a schema.

    raw, released: return the SQL of a table; without raw tables less is checked. columns: SQL type
    by column of each released table, by its name. hierarchy: the relation that the release was made
    with.
    """

    def __init__(
        self,
        schema: Schema,
        raw: Callable[[str], str] | None,
        released: Callable[[str], str],
        columns: Mapping[str, Mapping[str, str]],
        k: int | None,
        l: float | None,  # noqa: E741
        *,
        truth: bool,
        hierarchy: str | None = None,
    ):
        self.schema, self.released, self.columns = schema, released, columns
        self.hierarchy = hierarchy
        self.k, self.l, self.truth, self.compared = k, l, truth and raw is not None, raw is not None
        self.raw = raw or released
        self.folds = Folds(schema, "__anon_s_", lambda node: released(node.name), added=True)
        self.source = Folds(schema, "__anon_r_", lambda node: self.raw(node.name), added=False)
        self.extra: list[str] = []

    def statement(self) -> str:
        """Return the statement."""
        rows = [*self._tables(), *self._keys(), *self._folds(), *self._unlinked()]
        rows += [*self._numbers(), *self._references()]
        rows += self._labels() if self.truth else []
        selects = " UNION ALL ".join(
            f"SELECT {number} AS __anon_at, * FROM ({text})" for number, text in enumerate(rows)
        )
        ctes = ", ".join([*self.folds.ctes(), *self.extra])
        names = "property, required, found, passed, example"
        return f"WITH {ctes} SELECT {names} FROM ({selects}) ORDER BY __anon_at, property"

    def _tables(self) -> Iterator[str]:
        """Yield the checks of columns and of the number of people."""
        for name, node in self.schema.nodes.items():
            released_names = {fold(column) for column in self.columns[name]}
            added = [column for _, *names in self.schema.added(node) for column in names]
            allowed = {fold(c) for c in (*node.renewed, *node.quasi, *node.kept, *added)}
            raw_names = {fold(column): column for column in node.table.types}
            wrong = [
                raw_names[folded] for folded in raw_names if folded in released_names - allowed
            ]
            others = sorted(released_names - allowed - set(raw_names))
            missing = [
                column
                for column in (*node.renewed, *node.quasi, *node.kept, *added)
                if fold(column) not in released_names
            ]
            actual = f"{len(wrong)}"
            yield _row(f"identifiers of {name}", "0", actual, "found = 0", _named(wrong))
            actual = f"{len(missing)}"
            yield _row(f"columns of {name}", "0", actual, "found = 0", _named(missing))
            actual = f"{len(others)}"
            yield _row(f"added_columns of {name}", "0", actual, "found = 0", _named(others))
        if not self.compared:
            return
        root = self.schema.root
        required = f"(SELECT count(*) FROM {self.raw(root)})"
        actual = f"(SELECT count(*) FROM {self.released(root)})"
        yield _row("persons", required, actual, "found = required", "NULL")
        for name, node in self.schema.nodes.items():
            if node.link is not None:
                most = f"(SELECT count(*) FROM {self.raw(name)})"
                actual = f"(SELECT count(*) FROM {self.released(name)})"
                yield _row(f"rows of {name}", most, actual, "found <= required", "NULL")

    def _keys(self) -> Iterator[str]:
        """Yield the checks of keys and links: once each, below a row, and none of the raw ones."""
        for name, node in self.schema.nodes.items():
            rows = self.folds.name("rows", node)
            for keys in sorted({c.link.keys for c in self.schema.children(name) if c.link}):
                key = self.folds.key(node, keys)
                linked = (
                    _all_there(self.folds.key(node, node.link.columns)) if node.link else "true"
                )
                twice = (
                    f"(SELECT coalesce(sum(n - 1), 0) FROM (SELECT count(*) AS n FROM {rows} "
                    f"WHERE {_all_there(key)} GROUP BY {', '.join(key)}))"
                )
                is_complete = _all_there(key)
                none = f"(SELECT count(*) FROM {rows} WHERE {linked} AND NOT ({is_complete}))"
                actual = f"{twice} + {none}"
                yield _row(f"keys of {name}", "0", actual, "found = 0", "NULL")
            if node.link is not None:
                parent = self.folds.name("rows", self.schema.parent(node))
                key = self.folds.key(node, node.link.columns, "c")
                has_link = " OR ".join(f"{column} IS NOT NULL" for column in key)
                actual = (
                    f"(SELECT count(*) FROM {rows} AS c ANTI JOIN {parent} AS p "
                    f"ON {self.folds.on(node, 'c', 'p')} WHERE {has_link})"
                )
                yield _row(f"orphans of {name}", "0", actual, "found = 0", "NULL")
            for number, column in enumerate(node.renewed if self.compared else ()):
                raw_keys = f"SELECT {quote(column)}::VARCHAR FROM {self.raw(name)}"
                actual = (
                    f"(SELECT count(*) FROM {rows} WHERE c{number} IS NOT NULL "
                    f"AND c{number}::VARCHAR IN ({raw_keys}))"
                )
                yield _row(f"raw_keys of {name}.{column}", "0", actual, "found = 0", "NULL")

    def _folds(self) -> Iterator[str]:
        """Yield the checks of k and l over folds."""
        persons = self.folds.name("path", self.schema.nodes[self.schema.root])
        self.extra.append(
            f"__anon_classes AS MATERIALIZED (SELECT class, count(*) AS n FROM {persons} "
            "GROUP BY class)"
        )
        k = "NULL" if self.k is None else f"{int(self.k)}"
        example = (
            "(SELECT CASE WHEN count(*) > 0 THEN concat(sum(n), ' persons in ', count(*), "
            f"' classes of fewer') END FROM __anon_classes WHERE n < {k})"
        )
        yield _row("k", k, "(SELECT min(n) FROM __anon_classes)", "found >= required", example)
        for node in self.schema.nodes.values():
            path = self.folds.name("path", node)
            for number, column in enumerate(node.sensitive):
                values = f"SELECT person, class, path, s{number} AS value FROM {path}"
                yield from self._spread(f"{node.name}.{column}", values)
            if node.role == "sensitive" and node.link is not None:
                above = self.folds.name("path", self.schema.parent(node))
                keys = self.folds.key(node, node.link.columns)
                link_columns = ", ".join(keys)
                counted = (
                    f"SELECT {link_columns}, count(*) AS n FROM {path} GROUP BY {link_columns}"
                )
                values = (
                    "SELECT p.person, p.class, p.path, coalesce(c.n, 0) AS value "
                    f"FROM {above} AS p "
                    f"LEFT JOIN ({counted}) AS c ON {self.folds.on(node, 'c', 'p')}"
                )
                yield from self._spread(f"the number of {node.name}", values)

    def _spread(self, subject: str, values: str) -> Iterator[str]:
        """Yield the least l of a column, in slots and over all slots of a class."""
        name = f"__anon_v_{len(self.extra)}"
        self.extra.append(f"{name} AS MATERIALIZED (SELECT DISTINCT * FROM ({values}))")
        required = "NULL" if self.l is None else f"{self.l:g}"
        slot = (
            "SELECT least(h.many, c.n - h.held + 1) AS found FROM "
            "(SELECT path, class, count(value) AS many, "
            "coalesce(max(held) FILTER (value IS NOT NULL), 0) AS held FROM "
            f"(SELECT path, class, value, count(*) AS held FROM {name} GROUP BY ALL) GROUP BY ALL) "
            "AS h JOIN __anon_classes AS c USING (class)"
        )
        every = (
            "SELECT c.n - h.held + 1 AS found FROM "
            "(SELECT class, max(held) AS held FROM (SELECT class, value, count(*) AS held FROM "
            f"(SELECT DISTINCT class, value, person FROM {name} WHERE value IS NOT NULL) "
            "GROUP BY ALL) GROUP BY class) "
            "AS h JOIN __anon_classes AS c USING (class)"
        )
        for where, text in (("", slot), (", all slots", every)):
            least = f"__anon_l_{len(self.extra)}"
            below = f"count(*) FILTER (found < {required}) AS below"
            self.extra.append(
                f"{least} AS MATERIALIZED (SELECT min(found) AS found, {below} FROM ({text}))"
            )
            example = (
                "(SELECT CASE WHEN below > 0 THEN "
                f"concat(below, ' slots or classes of less') END FROM {least})"
            )
            actual = f"(SELECT found FROM {least})"
            passed = "required <= 1 OR coalesce(found, required) >= required"
            yield _row(f"l of {subject}{where}", required, actual, passed, example)

    def _unlinked(self) -> Iterator[str]:
        """Yield the checks of rows without a link: rows of a label, no values, nothing below."""
        for node in self.schema.nodes.values():
            if node.link is None or not self.schema.is_countable(node.name):
                continue
            gone = " AND ".join(f"{quote(column)} IS NULL" for column in node.link.columns)
            source = f"{self.released(node.name)} AS __anon_source WHERE {gone}"
            labels = ", ".join(self.folds.labels(node))
            grouping = f"GROUP BY {labels}" if labels else "HAVING count(*) > 0"
            k = "NULL" if self.k is None else f"{int(self.k)}"
            groups = f"SELECT count(*) AS n FROM {source} {grouping}"
            actual = f"(SELECT min(n) FROM ({groups}))"
            passed = "coalesce(found, required) >= required"
            reason = literal(
                "rows, which estimate persons: only the raw tables tell whose they are"
            )
            example = (
                "NULL" if self.compared else f"(CASE WHEN found IS NOT NULL THEN {reason} END)"
            )
            yield _row(f"unlinked_labels of {node.name}", k, actual, passed, example)
            if self.truth:
                yield self._persons(node, source, k)
            kept = [f"{quote(column)} IS NOT NULL" for column in node.kept]
            actual = f"(SELECT count(*) FROM {source} AND ({' OR '.join(kept) or 'false'}))"
            yield _row(f"unlinked_values of {node.name}", "0", actual, "found = 0", "NULL")

    def _persons(self, node: Node, source: str, k: str) -> str:
        """Return the check of the people who can be behind equal labels of unlinked rows."""
        self.use_source()
        types = {fold(name): kind for name, kind in self.columns[node.name].items()}
        behind = PersonsBehind(
            node,
            self.folds.table_numbers[node.name],
            source,
            self._owned(node),
            self.folds.labels(node),
            {name: types.get(fold(name), "") for name in node.quasi},
        )
        self.extra += behind.ctes()
        example = (
            "(SELECT CASE WHEN count(*) > 0 THEN concat(sum(n), ' rows in ', count(*), "
            f"' sets of labels of fewer') END FROM {behind.result} WHERE persons < {k})"
        )
        actual = f"(SELECT min(persons) FROM {behind.result})"
        passed = "coalesce(found, required) >= required"
        return _row(f"unlinked_people of {node.name}", k, actual, passed, example)

    def _references(self) -> Iterator[str]:
        """Yield the check that each row of a reference table is used by k people or by none."""
        for name in self.schema.references if self.compared else ():
            links = [link for link in self.schema.reference_links if link.parent == name]
            users = [link for link in links if link.child in self.schema.nodes]
            if not users:
                continue
            self.use_source()
            parts = []
            for link in users:
                node = self.schema.nodes[link.child]
                keys = ", ".join(f"t.{quote(column)}" for column in link.columns)
                none = " AND ".join(f"t.{quote(column)} IS NOT NULL" for column in link.columns)
                owned = f"{self._owned(node)} WHERE {none}"
                parts.append(f"SELECT {HASH}({keys}) AS key, person FROM {owned}")
            counted = (
                "SELECT count(*) AS n FROM (SELECT DISTINCT key, person FROM "
                f"({' UNION ALL '.join(parts)})) GROUP BY key"
            )
            k = "NULL" if self.k is None else f"{int(self.k)}"
            actual = f"(SELECT count(*) FROM ({counted}) WHERE n < {k})"
            example = (
                f"(SELECT concat('the least is used by ', min(n), ' persons') FROM ({counted}) "
                f"WHERE n < {k} HAVING count(*) > 0)"
            )
            yield _row(f"{REFERENCE_ROWS}{name}", "0", actual, "found = 0", example)

    def use_source(self) -> None:
        """Add the folds of the raw tables, once."""
        if not any(text.startswith(self.source.prefix) for text in self.extra):
            self.extra += self.source.ctes()

    def _owned(self, node: Node) -> str:
        """Return the raw rows of a table as t, each with its person."""
        rows = self.raw(node.name)
        if node.link is None:
            return f"(SELECT *, row_number() OVER () AS person FROM {rows}) AS t"
        above = self.source.name("path", self.schema.parent(node))
        keys = self.source.key(self.schema.parent(node), node.link.keys, "p")
        on = " AND ".join(
            f"t.{quote(c)} = {key}" for c, key in zip(node.link.columns, keys, strict=True)
        )
        return f"{rows} AS t JOIN {above} AS p ON {on}"

    def _numbers(self) -> Iterator[str]:
        """Yield the checks of added numbers of rows and weights against the rows that are shown.

        A class shows as many rows as its person with fewest has, which is the low end of the
        number. The weight times the rows shown is the mean number, which lies between the ends.
        """
        for name, node in self.schema.nodes.items():
            linked = _all_there([f"t.{quote(c)}" for c in (node.link.columns if node.link else ())])
            types = {fold(column): kind for column, kind in self.columns[name].items()}
            for child, counted, weight in self.schema.added(node):
                assert child.link is not None
                links = [quote(column) for column in child.link.columns]
                keys = zip(child.link.keys, links, strict=True)
                on = " AND ".join(f"t.{quote(key)} = b.{link}" for key, link in keys)
                kind = types.get(fold(counted), "")
                if not kind.startswith(("VARCHAR", "STRUCT(")):
                    continue  # a mean or median has no ends
                low, high = _ends(f"t.{quote(counted)}", kind)
                mean = (
                    f"TRY_CAST(t.{quote(weight)} AS DOUBLE) * b.n "
                    f"BETWEEN {low} - 1e-6 AND {high} + 1e-6"
                )
                actual = (
                    f"(SELECT count(*) FROM {self.released(name)} AS t LEFT JOIN "
                    f"(SELECT {', '.join(links)}, count(*) AS n FROM {self.released(child.name)} "
                    f"GROUP BY ALL) AS b ON {on} WHERE {linked or 'true'} AND "
                    f"(coalesce(b.n, 0) IS DISTINCT FROM {low} OR (b.n > 0 AND NOT "
                    f"coalesce({mean}, false))))"
                )
                yield _row(f"numbers of {child.name} in {name}", "0", actual, "found = 0", "NULL")

    def _records(self, node: Node, shown: bool) -> str:
        """Return the CTE of a table's rows, with the hash of each record.

        A record is the kept values of a row, and the records of all rows that stay with it: those
        of children whose number is not known. A released record is a raw one.
        """
        relation = self.released(node.name) if shown else self.raw(node.name)
        parts, joins = ["1"], []
        types = {fold(name): kind for name, kind in self.columns[node.name].items()}
        for name in node.kept:
            kind = node.table.types[name]
            differs = shown and types.get(fold(name)) != kind  # a CSV file has other types
            parts.append(f"TRY_CAST(t.{quote(name)} AS {kind})" if differs else f"t.{quote(name)}")
        for child in self.schema.children(node.name):
            if child.role == "quasi":
                continue
            assert child.link is not None
            alias = f"b{self.folds.table_numbers[child.name]}"
            links = [quote(column) for column in child.link.columns]
            below = f"{HASH}(system.main.list_sort(system.main.list({quote(_RECORD)})))"
            keys = zip(child.link.keys, links, strict=True)
            on = " AND ".join(f"t.{quote(key)} = {alias}.{link}" for key, link in keys)
            joins.append(
                f" LEFT JOIN (SELECT {', '.join(links)}, {below} AS below "
                f"FROM {self._record_name(child, shown)} GROUP BY ALL) AS {alias} ON {on}"
            )
            parts.append(f"{alias}.below")
        return (
            f"{self._record_name(node, shown)} AS MATERIALIZED (SELECT t.*, "
            f"{HASH}({', '.join(parts)}) AS {quote(_RECORD)} FROM {relation} AS t{''.join(joins)})"
        )

    def _record_name(self, node: Node, shown: bool) -> str:
        return f"__anon_{'shown' if shown else 'raw'}_records_{self.folds.table_numbers[node.name]}"

    def _joined(self, node: Node, shown: bool) -> tuple[str, dict[str, str]]:
        """Return linked rows with the quasi-identifiers of all rows above, and their record.

        The dict has the column by the name of each quasi-identifier in the result.
        """
        names: dict[str, str] = {}
        tables, alias, below = f"{self._record_name(node, shown)} AS t0", 0, node
        columns = [f"t0.{quote(_RECORD)}"]
        while True:
            for column in below.quasi:
                names[f"{below.name}.{column}"] = column
                columns.append(f"t{alias}.{quote(column)} AS {quote(f'{below.name}.{column}')}")
            if below.link is None:
                return f"SELECT {', '.join(columns)} FROM {tables}", names
            above = self.schema.parent(below)
            pairs = zip(below.link.columns, below.link.keys, strict=True)
            on = " AND ".join(f"t{alias}.{quote(a)} = t{alias + 1}.{quote(b)}" for a, b in pairs)
            tables += f" JOIN {self._record_name(above, shown)} AS t{alias + 1} ON {on}"
            alias, below = alias + 1, above

    def _labels(self) -> Iterator[str]:
        """Yield what ``audit`` finds in the records of each table, joined with all rows above."""
        for is_shown in (False, True):
            nodes = reversed(list(self.schema.nodes.values()))
            self.extra += [self._records(node, is_shown) for node in nodes]
        for number, (name, node) in enumerate(self.schema.nodes.items()):
            raw, shown = f"__anon_raw_{number}", f"__anon_shown_{number}"
            for target, is_shown in ((raw, False), (shown, True)):
                joined, quasi = self._joined(node, is_shown)
                self.extra.append(f"{target} AS ({joined})")
            if not quasi:
                actual = f"(SELECT count(*) FROM (FROM {shown} EXCEPT ALL FROM {raw}))"
                yield _row(f"kept values of {name}", "0", actual, "found = 0", "NULL")
                continue
            arguments = f"quasi := {_list(list(quasi))}, keep := {_list([_RECORD])}"
            arguments += ", sensitive := []::VARCHAR[], identifiers := []::VARCHAR[]"
            if self.hierarchy is not None:
                tree = f"__anon_tree_{number}"
                trees = self._trees(self.hierarchy, quasi)
                self.extra.append(f"{tree} AS ({' UNION ALL '.join(trees)})")
                arguments += f", hierarchy := {literal(tree)}"
            is_root = node.link is None
            properties = ", ".join(map(literal, _OF_ROOT if is_root else _TRUTH))
            suppressed = "keep" if is_root else "drop"
            yield (
                f"SELECT concat(property, ' of ', {literal(name)}) AS property, "
                "0::DOUBLE AS required, found, passed, NULL::VARCHAR AS example "
                f"FROM audit({literal(raw)}, {literal(shown)}, {arguments}, "
                f"suppressed := {literal(suppressed)}, unit := 'row') "
                f"WHERE property IN ({properties})"
            )

    @staticmethod
    def _trees(hierarchy: str, quasi: Mapping[str, str]) -> Iterator[str]:
        """Yield the hierarchy of each quasi-identifier by its name in joined rows."""
        for name, column in quasi.items():
            yield (
                f"SELECT * REPLACE ({literal(name)} AS attribute) "
                f"FROM query_table({literal(hierarchy)}) "
                f"WHERE lower(attribute) = lower({literal(column)})"
            )


def _row(name: str, required: str, actual: str, passed: str, example: str) -> str:
    """Return a row of the audit; passed: in terms of required and found."""
    return (
        f"SELECT {literal(name)} AS property, required, found, ({passed}) AS passed, "
        f"({example})::VARCHAR AS example FROM "
        f"(SELECT ({required})::DOUBLE AS required, ({actual})::DOUBLE AS found)"
    )


def _ends(column: str, kind: str) -> tuple[str, str]:
    """Return the ends of a released range of whole numbers; kind: its SQL type."""
    if kind.startswith("STRUCT("):
        return f"{column}.min", f"{column}.max"
    return (
        f"TRY_CAST(anon_min({column}::VARCHAR) AS BIGINT)",
        f"TRY_CAST(anon_max({column}::VARCHAR) AS BIGINT)",
    )


def _all_there(columns: list[str]) -> str:
    return " AND ".join(f"{column} IS NOT NULL" for column in columns)


def _named(columns: list[str]) -> str:
    return literal(", ".join(columns)) if columns else "NULL"


def _list(names: list[str]) -> str:
    return f"[{', '.join(map(literal, names))}]::VARCHAR[]"
