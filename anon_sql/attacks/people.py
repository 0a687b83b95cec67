"""The persons of the raw table and the classes of its release, as the attacks see them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql.arrow import integers, lists
from anon_sql.attacks.covering import covering
from anon_sql.options import OrNull, Whole
from anon_sql.roles import fold

_NOTHING = -1  # the code of NULL, which is no value
_QUASI, _KEY = "__anon_quasi_", "__anon_key_"


class People:
    """All persons, alike ones merged, in an order that depends on what they hold alone.

    columns: a covering for each quasi-identifier; own int64[p, s]: the value of each sensitive
    column, numbered through all of them, -1 for NULL; column_of int64[v]: whose value that is.
    sizes int64[m]: rows of each class. starts int64[m + 1], values, counts int64[e]: how often
    each class holds which values.
    """

    def __init__(
        self,
        function: str,
        call: Mapping[str, Any],
        types: Mapping[str, str],
        people: Any,
        shows: Any,
        counted: Any,
        trees: Any,
    ):
        self.function, self.sensitive = function, list(call["sensitive"])
        held, shown = lists(people), lists(shows)
        quasi = [name for name in call["quasi"] if held[_QUASI + name] is not None]
        quasi = quasi if shown["__anon_size"] is not None else []
        listed = {fold(name): rows for name, rows in lists(trees).items()}
        self.columns = [
            covering(
                function,
                name,
                types[name],
                listed.get(fold(name)),
                held[_QUASI + name],
                shown[name],
            )
            for name in quasi
        ]
        self._count(held, shown, counted[0])
        count = held["__anon_count"]
        counts = integers(count) if count is not None else np.zeros(0, np.int64)
        order = np.lexsort([*self.own.T[::-1], *(one.codes for one in self.columns[::-1])])
        self.tuple_of = np.repeat(order, counts[order])  # of each person

    def _count(self, held: Mapping[str, Any], shown: Mapping[str, Any], counted: Any) -> None:
        """Number the sensitive values, and list those of each class."""
        rows = counted.values if counted.is_valid else None
        names = rows.field("__anon_name").to_pylist() if rows is not None else []
        keys = rows.field("__anon_value").to_pylist() if rows is not None else []
        code_of: dict[tuple[str, bytes], int] = {}
        own = []
        for name in self.sensitive:
            listed = held[_KEY + name].to_pylist() if held[_KEY + name] is not None else []
            theirs = {key for other, key in zip(names, keys, strict=True) if other == name}
            for key in sorted({*listed, *theirs} - {b""}):
                code_of[name, key] = len(code_of)
            own.append([code_of.get((name, key), _NOTHING) for key in listed])
        self.own = np.array(own, dtype=np.int64).T.reshape(-1, len(self.sensitive))
        self.column_of = np.array(
            [self.sensitive.index(name) for name, _ in code_of], dtype=np.int64
        )
        order = integers(shown["__anon_class"]) if shown["__anon_class"] is not None else []
        place = {number: at for at, number in enumerate(order)}
        self.sizes = integers(shown["__anon_size"]) if len(order) else np.zeros(0, np.int64)
        value = np.array(
            [code_of.get(pair, _NOTHING) for pair in zip(names, keys, strict=True)], np.int64
        )
        of, many = (
            integers(rows.field(field)) if rows is not None else np.zeros(0, np.int64)
            for field in ("__anon_class", "__anon_count")
        )
        at = np.array([place[number] for number in of], dtype=np.int64)
        known = np.flatnonzero(value != _NOTHING)
        known = known[np.lexsort((value[known], at[known]))]
        self.starts = np.searchsorted(at[known], np.arange(len(order) + 1))
        self.values, self.counts = value[known], many[known]

    def drawn(self, sample: Any, seed: Any) -> tuple[npt.NDArray[np.int64], np.random.Generator]:
        """Which persons are attacked, and the random numbers that follow. Raises AnonError."""
        most = OrNull(Whole(1)).read(self.function, "sample", sample)
        draw = np.random.default_rng(Whole(0).read(self.function, "seed", seed))
        if most is None or most >= len(self.tuple_of):
            return self.tuple_of, draw
        return self.tuple_of[np.sort(draw.choice(len(self.tuple_of), most, replace=False))], draw
