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

_TRUTH = ("labels", "kept values", "spelling")  # properties of ``audit`` that say it of rows


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
        rows += [*self._references(), *(self._labels() if self.truth else ())]
        selects = " UNION ALL ".join(
            f"SELECT {at} AS __anon_at, * FROM ({text})" for at, text in enumerate(rows)
        )
        ctes = ", ".join([*self.folds.ctes(), *self.extra])
        names = "property, required, found, passed, example"
        return f"WITH {ctes} SELECT {names} FROM ({selects}) ORDER BY __anon_at, property"

    def _tables(self) -> Iterator[str]:
        """Yield the checks of columns and of the number of persons."""
        for name, node in self.schema.nodes.items():
            there = {fold(column) for column in self.columns[name]}
            added = [column for _, *names in self.schema.added(node) for column in names]
            allowed = {fold(c) for c in (*node.renewed, *node.quasi, *node.kept, *added)}
            wrong = [column for column in node.table.types if fold(column) in there - allowed]
            missing = [
                column
                for column in (*node.renewed, *node.quasi, *node.kept, *added)
                if fold(column) not in there
            ]
            found = f"{len(wrong)}"
            yield _row(f"identifiers of {name}", "0", found, "found = 0", _named(wrong))
            found = f"{len(missing)}"
            yield _row(f"columns of {name}", "0", found, "found = 0", _named(missing))
        if not self.compared:
            return
        root = self.schema.root
        required = f"(SELECT count(*) FROM {self.raw(root)})"
        found = f"(SELECT count(*) FROM {self.released(root)})"
        yield _row("persons", required, found, "found = required", "NULL")
        for name, node in self.schema.nodes.items():
            if node.link is not None:
                most = f"(SELECT count(*) FROM {self.raw(name)})"
                found = f"(SELECT count(*) FROM {self.released(name)})"
                yield _row(f"rows of {name}", most, found, "found <= required", "NULL")

    def _keys(self) -> Iterator[str]:
        """Yield the checks of keys and links: once each, below a row, and none of the raw ones."""
        for name, node in self.schema.nodes.items():
            rows = self.folds.name("rows", node)
            for keys in sorted({c.link.keys for c in self.schema.children(name) if c.link}):
                own = self.folds.key(node, keys)
                linked = (
                    _all_there(self.folds.key(node, node.link.columns)) if node.link else "true"
                )
                twice = (
                    f"(SELECT coalesce(sum(n - 1), 0) FROM (SELECT count(*) AS n FROM {rows} "
                    f"WHERE {_all_there(own)} GROUP BY {', '.join(own)}))"
                )
                there = _all_there(own)
                none = f"(SELECT count(*) FROM {rows} WHERE {linked} AND NOT ({there}))"
                found = f"{twice} + {none}"
                yield _row(f"keys of {name}", "0", found, "found = 0", "NULL")
            if node.link is not None:
                parent = self.folds.name("rows", self.schema.parent(node))
                own = self.folds.key(node, node.link.columns, "c")
                some = " OR ".join(f"{column} IS NOT NULL" for column in own)
                found = (
                    f"(SELECT count(*) FROM {rows} AS c ANTI JOIN {parent} AS p "
                    f"ON {self.folds.on(node, 'c', 'p')} WHERE {some})"
                )
                yield _row(f"orphans of {name}", "0", found, "found = 0", "NULL")
            for at, column in enumerate(node.renewed if self.compared else ()):
                known = f"SELECT {quote(column)}::VARCHAR FROM {self.raw(name)}"
                found = (
                    f"(SELECT count(*) FROM {rows} WHERE c{at} IS NOT NULL "
                    f"AND c{at}::VARCHAR IN ({known}))"
                )
                yield _row(f"raw keys in {name}.{column}", "0", found, "found = 0", "NULL")

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
            for at, column in enumerate(node.sensitive):
                values = f"SELECT person, class, path, s{at} AS value FROM {path}"
                yield from self._spread(f"{node.name}.{column}", values)
            if node.role == "sensitive" and node.link is not None:
                above = self.folds.name("path", self.schema.parent(node))
                keys = self.folds.key(node, node.link.columns)
                own = ", ".join(keys)
                counted = f"SELECT {own}, count(*) AS n FROM {path} GROUP BY {own}"
                values = (
                    "SELECT p.person, p.class, p.path, coalesce(c.n, 0) AS value "
                    f"FROM {above} AS p "
                    f"LEFT JOIN ({counted}) AS c ON {self.folds.on(node, 'c', 'p')}"
                )
                yield from self._spread(f"the number of {node.name}", values)

    def _spread(self, what: str, values: str) -> Iterator[str]:
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
            found = f"(SELECT found FROM {least})"
            passed = "required <= 1 OR coalesce(found, required) >= required"
            yield _row(f"l of {what}{where}", required, found, passed, example)

    def _unlinked(self) -> Iterator[str]:
        """Yield the checks of rows without a link: rows of a label, no values, nothing below."""
        for node in self.schema.nodes.values():
            if node.link is None or not self.schema.known(node.name):
                continue
            gone = " AND ".join(f"{quote(column)} IS NULL" for column in node.link.columns)
            source = f"{self.released(node.name)} AS __anon_source WHERE {gone}"
            labels = ", ".join(self.folds.labels(node))
            each = f"GROUP BY {labels}" if labels else "HAVING count(*) > 0"
            k = "NULL" if self.k is None else f"{int(self.k)}"
            groups = f"SELECT count(*) AS n FROM {source} {each}"
            found = f"(SELECT min(n) FROM ({groups}))"
            passed = "coalesce(found, required) >= required"
            known = literal("rows, which estimate persons: only the raw tables tell whose they are")
            said = "NULL" if self.compared else f"(CASE WHEN found IS NOT NULL THEN {known} END)"
            yield _row(f"unlinked labels of {node.name}", k, found, passed, said)
            if self.truth:
                yield self._persons(node, source, k)
            kept = [f"{quote(column)} IS NOT NULL" for column in node.kept]
            found = f"(SELECT count(*) FROM {source} AND ({' OR '.join(kept) or 'false'}))"
            yield _row(f"values of unlinked {node.name}", "0", found, "found = 0", "NULL")

    def _persons(self, node: Node, source: str, k: str) -> str:
        """Return the check of the persons who can be behind equal labels of unlinked rows."""
        self.use_source()
        types = {fold(name): kind for name, kind in self.columns[node.name].items()}
        behind = PersonsBehind(
            node,
            self.folds.at[node.name],
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
        found = f"(SELECT min(persons) FROM {behind.result})"
        passed = "coalesce(found, required) >= required"
        return _row(f"persons of unlinked {node.name}", k, found, passed, example)

    def _references(self) -> Iterator[str]:
        """Yield the check that each row of a reference table is used by k persons or by none."""
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
            found = f"(SELECT count(*) FROM ({counted}) WHERE n < {k})"
            example = (
                f"(SELECT concat('the least is used by ', min(n), ' persons') FROM ({counted}) "
                f"WHERE n < {k} HAVING count(*) > 0)"
            )
            yield _row(f"reference rows of {name}", "0", found, "found = 0", example)

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

    def _labels(self) -> Iterator[str]:
        """Yield what ``audit`` says of the labels of each table's linked rows."""
        for at, (name, node) in enumerate(self.schema.nodes.items()):
            if not node.quasi:
                continue
            columns = ", ".join(quote(column) for column in (*node.quasi, *node.kept))
            linked = "true"
            if node.link is not None:
                linked = _all_there([quote(column) for column in node.link.columns])
            raw, shown = f"__anon_raw_{at}", f"__anon_shown_{at}"
            self.extra.append(f"{raw} AS (SELECT {columns} FROM {self.raw(name)})")
            self.extra.append(
                f"{shown} AS (SELECT {columns} FROM {self.released(name)} WHERE {linked})"
            )
            named = {
                "qids": node.quasi,
                "sensitive": node.sensitive,
                "keep": node.of_role("keep"),
                "identifiers": [],
            }
            given = ", ".join(f"{role} := {_list(names)}" for role, names in named.items())
            properties = ", ".join(map(literal, _TRUTH))
            if self.hierarchy is not None:
                given += f", hierarchy := {literal(self.hierarchy)}"
            yield (
                f"SELECT concat(property, ' of ', {literal(name)}) AS property, "
                "0::DOUBLE AS required, found, passed, NULL::VARCHAR AS example "
                f"FROM audit({literal(raw)}, {literal(shown)}, {given}, suppressed := 'drop') "
                f"WHERE property IN ({properties})"
            )


def _row(name: str, required: str, found: str, passed: str, example: str) -> str:
    """Return a row of the audit; passed: in terms of required and found."""
    return (
        f"SELECT {literal(name)} AS property, required, found, ({passed}) AS passed, "
        f"({example})::VARCHAR AS example FROM "
        f"(SELECT ({required})::DOUBLE AS required, ({found})::DOUBLE AS found)"
    )


def _all_there(columns: list[str]) -> str:
    return " AND ".join(f"{column} IS NOT NULL" for column in columns)


def _named(columns: list[str]) -> str:
    return literal(", ".join(columns)) if columns else "NULL"


def _list(names: list[str]) -> str:
    return f"[{', '.join(map(literal, names))}]::VARCHAR[]"
