"""Random linked tables: a tree to depth four, counts with long tails, NULLs, composite keys."""

import numpy as np
import pyarrow as pa

KINDS = ("int", "text", "date", "float")


class RandomSchema:
    """Tables, links and roles of a seed.

    tables: rows as Arrow by name, parents first. links: texts for a call. roles: lists of columns.
    tree: by child, (columns, parent, keys). known: children whose number of rows is known.
    """

    def __init__(self, seed, persons=None, most=40):
        self.rng = np.random.default_rng(seed)
        rng = self.rng
        self.tables, self.links, self.tree, self.known = {}, [], {}, set()
        self.roles = {"identifiers": [], "quasi": [], "sensitive": [], "keep": []}
        self.quasi, self.secret = {}, {}
        self.composite = bool(rng.integers(0, 2))
        rows = int(persons or rng.integers(12, 60))
        self._table("t0", rows, known=True)
        for at in range(1, int(rng.integers(2, 6))):
            parent = f"t{rng.integers(0, at)}"
            if self._depth(parent) < 4:
                self._child(f"t{at}", parent, most)

    def _depth(self, name):
        return 0 if name not in self.tree else 1 + self._depth(self.tree[name][1])

    def _column(self, rows):
        rng = self.rng
        kind = KINDS[rng.integers(0, len(KINDS))]
        wide = int(rng.integers(2, 30))
        values = rng.integers(0, wide, rows)
        gone = rng.random(rows) < rng.choice([0, 0, 0.1])
        if kind == "text":
            return pa.array(
                np.array([f"w{v}, '{v}" for v in values], dtype=object), pa.string(), mask=gone
            )
        if kind == "date":
            days = np.datetime64("2020-01-01") + values.astype("timedelta64[D]")
            return pa.array(days, mask=gone)
        return pa.array(values / 4 if kind == "float" else values, mask=gone)

    def _table(self, name, rows, known):
        rng = self.rng
        columns = {}
        if self.composite:
            columns |= {"k a": pa.array(rng.permutation(rows) // 3)}
            columns |= {"k": pa.array([f"x{v % 3}" for v in self._order(columns["k a"])])}
        else:
            columns |= {"k": pa.array(rng.permutation(rows) + 1)}
        self.roles["identifiers"] += [f'{name}."{key}"' for key in columns]
        self.quasi[name], self.secret[name] = [], []
        for at in range(int(rng.integers(0, 3)) + (name == "t0")):
            columns[f"q {at}"] = self._column(rows)
            role = "quasi" if known else "keep"
            self.roles[role].append(f'{name}."q {at}"')
            if known:
                self.quasi[name].append(f"q {at}")
        if rng.random() < 0.6:
            columns["s"] = pa.array(rng.integers(0, int(rng.integers(4, 40)), rows))
            self.roles["sensitive"].append(f"{name}.s")
            self.secret[name].append("s")
        if rng.random() < 0.4:
            columns["kept"] = self._column(rows)
            self.roles["keep"].append(f"{name}.kept")
        self.tables[name] = columns

    def _order(self, first):
        """Number the rows of each value, so that both key columns together are unique."""
        seen = {}
        for value in first.to_pylist():
            seen[value] = seen.get(value, -1) + 1
            yield seen[value]

    def _child(self, name, parent, most):
        rng = self.rng
        above = self.tables[parent]
        keys = [key for key in ("k a", "k") if key in above]
        many = len(above["k"])
        scale = rng.choice([0.3, 1, 3])
        counts = np.minimum(rng.geometric(1 / (1 + scale), many) - 1, most)
        if rng.random() < 0.3 and parent == "t0":
            counts[: int(rng.integers(1, 9))] *= int(rng.integers(2, 8))
        owner = rng.permutation(np.repeat(np.arange(many), counts))
        linked = self._known(parent)
        role = (
            rng.choice(["quasi", "quasi", "sensitive", "keep"])
            if linked
            else rng.choice(["sensitive", "keep"])
        )
        self._table(name, len(owner), known=role == "quasi")
        for key in keys:
            column = f"of {key}"
            self.tables[name][column] = above[key].take(pa.array(owner))
            self.roles[role].append(f'{name}."{column}"')
        columns = ", ".join(f'"of {key}"' for key in keys)
        named = ", ".join(f'"{key}"' for key in keys)
        self.links.append(f"{name}.({columns}) -> {parent}.({named})")
        self.tree[name] = ([f"of {key}" for key in keys], parent, keys)
        if role == "quasi":
            self.known.add(name)

    def _known(self, name):
        while name in self.tree:
            if name not in self.known:
                return False
            name = self.tree[name][1]
        return True

    def load(self, con):
        """Make the tables."""
        for name, columns in self.tables.items():
            con.register("__drawn", pa.table(columns))
            con.execute(f"CREATE OR REPLACE TABLE {name} AS FROM __drawn")
            con.unregister("__drawn")

    def sensitive_links(self):
        return [
            name
            for name, (columns, _, _) in self.tree.items()
            if f'{name}."{columns[0]}"' in self.roles["sensitive"]
        ]

    def labels(self):
        """The columns that the folds of released tables hold."""
        found = {name: list(columns) for name, columns in self.quasi.items()}
        for child, (_, parent, _) in self.tree.items():
            if child in self.known:
                found[parent] += [f"{child}_rows", f"{child}_weight"]
        return found
