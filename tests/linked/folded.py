"""Folds, classes and candidates of released tables, in plain Python: no code of the product."""

from collections import Counter, defaultdict

LINKS = {
    "visit": ("person_id", "person", "person_id"),
    "diagnosis": ("visit_id", "visit", "visit_id"),
}


def rows(con, relation):
    """The rows of a relation as dicts."""
    found = con.execute(f"FROM {relation}")
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


class Folded:
    """The folds of tables.

    tables: rows by name, the root first. links: by child, (columns, parent, keys). known: children
    whose number is known. labels: by table, the columns of its folds.
    """

    def __init__(self, tables, links, known, labels):
        self.tables, self.links, self.known, self.labels = tables, links, known, labels
        self.root = next(iter(tables))
        self.below = {
            child: self._index(child, columns) for child, (columns, _, _) in links.items()
        }
        self.records = [self.fold(self.root, row) for row in tables[self.root]]

    def _index(self, child, columns):
        found = defaultdict(list)
        for row in self.tables[child]:
            found[tuple(row[name] for name in _names(columns))].append(row)
        return found

    def children(self, table, row, child):
        _, parent, keys = self.links[child]
        assert parent == table
        return self.below[child].get(tuple(row[name] for name in _names(keys)), [])

    def fold(self, table, row):
        parts = [tuple(str(row[name]) for name in self.labels[table])]
        for child, (_, parent, _) in self.links.items():
            if parent == table and child in self.known:
                folds = [self.fold(child, each) for each in self.children(table, row, child)]
                parts.append(tuple(sorted(folds, key=repr)))
        return tuple(parts)

    def smallest(self):
        return min(Counter(self.records).values())

    def classes(self):
        """The persons of each class, as rows of the root."""
        found = defaultdict(list)
        for record, row in zip(self.records, self.tables[self.root], strict=True):
            found[record].append(row)
        return list(found.values())

    def slots(self, table, path=None):
        """Yield (class size, person, slot, row) for each row of a table below a person."""
        sizes = Counter(self.records)
        way = []
        name = table
        while name != self.root:
            way.insert(0, name)
            name = self.links[name][1]
        for at, (record, person) in enumerate(
            zip(self.records, self.tables[self.root], strict=True)
        ):
            level = [((record,), self.root, person)]
            for child in way:
                level = [
                    (slot + ((self.fold(child, each),) if self._known(child) else ()), child, each)
                    for slot, parent, row in level
                    for each in self.children(parent, row, child)
                ]
            for slot, _, row in level:
                yield sizes[record], at, slot, row

    def _known(self, child):
        while child != self.root:
            if child not in self.known:
                return False
            child = self.links[child][1]
        return True

    def least_l(self, table, column):
        """The least l of a column: in slots, and over all slots of a class."""
        held = defaultdict(lambda: defaultdict(set))
        over = defaultdict(lambda: defaultdict(set))
        size = {}
        for n, person, slot, row in self.slots(table):
            value = row[column]
            held[slot][value].add(person)
            over[slot[0]][value].add(person)
            size[slot[0]] = n
        slots = [
            min(len(values), size[slot[0]] - max(map(len, values.values())) + 1)
            for slot, values in held.items()
        ]
        every = [size[c] - max(map(len, values.values())) + 1 for c, values in over.items()]
        return min(slots, default=None), min(every, default=None)


def _names(columns):
    return [columns] if isinstance(columns, str) else list(columns)


def hospital(con, schema="safe"):
    """The folds of a released hospital."""
    tables = {name: rows(con, f"{schema}.{name}") for name in ("person", "visit", "diagnosis")}
    labels = {
        "person": ["born", "sex", "postcode", "visit_rows", "visit_weight"],
        "visit": ["visited", "ward"],
        "diagnosis": [],
    }
    return Folded(tables, LINKS, {"visit"}, labels)
