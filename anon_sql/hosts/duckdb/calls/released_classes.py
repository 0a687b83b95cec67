"""The classes of each release of ``composition``, as SQL passes them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.attacks.composed import Shown
from anon_sql.core.arrow import first, integers, valid
from anon_sql.core.columns import is_number
from anon_sql.core.exact import approximate
from anon_sql.core.labels.coverage import Coverage, Ints
from anon_sql.core.labels.one_value import shows_values
from anon_sql.core.labels.read_coverage import coverage
from anon_sql.core.printing import printed
from anon_sql.core.roles import Roles, fold
from anon_sql.errors import AnonError, did_you_mean, listed
from anon_sql.hosts.duckdb.calls.binding import HELPER
from anon_sql.hosts.duckdb.calls.column_lists import columns_of
from anon_sql.hosts.duckdb.measuring import KEY
from anon_sql.measures.pair import is_label, require_types
from anon_sql.measures.spread import NULL, ordered

NAME = "composition"


class Part:
    """The classes of one release, as the macro passes them."""

    def __init__(self, name: str, slot: Any, roles: Roles) -> None:
        self.name = name
        self.types: dict[str, str] = first(slot.field("types"))
        self.by_fold = {fold(column): kind for column, kind in self.types.items()}
        self.groups = {fold(n): v for n, v in columns_of(slot.field("groups")).items()}
        self.quasi = [column for column in roles.quasi if fold(column) in self.by_fold]
        if not self.quasi:
            raise AnonError(
                NAME,
                "every release must have a quasi-identifier",
                f"none in '{name}'",
                did_you_mean(roles.quasi[0], self.types),
            )
        self.lists = self.groups[HELPER + "held"]
        self.classes = len(self.lists)
        inside = self.lists.type.value_type
        self.bound = [n.removeprefix(KEY) for n in (f.name for f in inside) if n.startswith(KEY)]

    def read(
        self,
        kinds: Mapping[str, str],
        values: Mapping[str, pa.Array],
        rows: Ints,
        trees: Mapping[str, pa.StructArray],
    ) -> list[Coverage | None]:
        """Return what the labels of each quasi-identifier cover; None where there is none.

        rows: of each of the values. Raises AnonError for labels that cannot be read.
        """
        for name in self.quasi:
            self._require_no_mean(name, kinds[name], values[name], rows)
        labels = {name: self._labels(name, kinds[name]) for name in self.quasi}
        found = {
            name: coverage(NAME, name, kinds[name], values[name], shown, trees.get(name))
            for name, shown in labels.items()
        }
        for name, column in found.items():
            wrong = int(column.said.malformed[column.label_of].sum())
            if wrong:
                raise AnonError(
                    NAME,
                    f"a label of {name} must be one that a release prints",
                    f"{wrong:,} other class{'' if wrong == 1 else 'es'} in '{self.name}'",
                    "name hierarchy := if the release was made with one",
                )
        return [found.get(name) for name in kinds]

    def _require_no_mean(self, name: str, raw: str, values: pa.Array, rows: Ints) -> None:
        """Raise AnonError if a column of numbers shows a value in more rows than the raw table has.

        Means and medians do, values that were left unchanged do not.
        """
        shown, kind = self.groups[fold(name)], self.by_fold[fold(name)]
        if not is_number(NAME, name, raw) or not shows_values(shown):
            return
        counts = integers(self.lists.flatten().field(HELPER + "count"))
        ends = np.concatenate([[0], np.cumsum(integers(self.lists.value_lengths()))])
        held = np.diff(np.concatenate([[0], np.cumsum(counts)])[ends])
        keys = np.concatenate([_keys(raw, values), _keys(kind, shown)])
        _, place = np.unique(keys, return_inverse=True)
        left = np.bincount(place.reshape(-1), np.concatenate([rows, -held]))
        if (left < 0).any():
            raise AnonError(
                NAME,
                f"the releases must show labels of {listed([name])}, or its values unchanged",
                f"means, medians or values of other rows in '{self.name}'",
                "means and medians cannot be composed; cast values that are unchanged to VARCHAR",
            )

    def _labels(self, name: str, raw: str) -> pa.Array:
        """Return the labels of a column; values that were left unchanged as they print."""
        shown, kind = self.groups[fold(name)], self.by_fold[fold(name)]
        plain = not is_label(kind) and not kind.startswith("STRUCT") and not kind.endswith("]")
        if plain and is_number(NAME, name, raw) == is_number(NAME, name, kind):
            return printed([shown], [kind])[0]
        require_types(NAME, [name], {name: raw}, self.by_fold)
        return shown


def require_alike(sensitive: Sequence[str], held: Sequence[Part]) -> None:
    """Raise AnonError unless some release has each sensitive column, all of them in one type."""
    for name in sensitive:
        kinds = {one.by_fold[fold(name)] for one in held if fold(name) in one.by_fold}
        if not kinds:
            raise AnonError(
                NAME,
                "a release must have every sensitive column",
                f"none called {name} in any",
                did_you_mean(name, held[0].types),
            )
        if len(kinds) > 1:
            raise AnonError(
                NAME,
                f"the releases must have {name} in one type",
                " and ".join(sorted(kinds)),
                "cast it",
            )


def shown_values(
    sensitive: Sequence[str], held: Sequence[Part]
) -> tuple[list[list[Shown | None]], list[int]]:
    """Return what each release shows of each sensitive column, and the values of each column."""
    found: list[list[Shown | None]] = [[] for _ in held]
    sizes = []
    for name in sensitive:
        having = [at for at, one in enumerate(held) if fold(name) in one.by_fold]
        keys = [_inside(held[at])[fold(KEY + name)] for at in having]
        places, known = ordered(pa.concat_arrays(keys))
        null = int(len(known) > 0 and known[0].as_py() == NULL)
        sizes.append(len(known) - null)
        ends = np.cumsum([len(key) for key in keys])[:-1]
        values = dict(zip(having, np.split(places - null, ends), strict=True))
        for at, one in enumerate(held):
            found[at].append(_values(one, values[at]) if at in values else None)
    return found, sizes


def _keys(sql_type: str, values: pa.Array) -> npt.NDArray[np.float64]:
    """Return values as numbers that can be compared, NaN for NULL."""
    return np.where(valid(values), approximate(sql_type, values), np.nan)


def _inside(one: Part) -> dict[str, pa.Array]:
    """Return the entries of all classes of a release, by folded name."""
    inside = one.lists.flatten()
    return {fold(field.name): inside.field(at) for at, field in enumerate(inside.type)}


def _values(one: Part, values: Ints) -> Shown:
    """values: int64[e], of each entry of the classes, -1 for NULL."""
    counts = integers(_inside(one)[HELPER + "count"]).astype(np.int64)
    sizes = integers(one.lists.value_lengths())
    of = np.repeat(np.arange(one.classes), sizes)
    kept = values >= 0
    starts = np.searchsorted(of[kept], np.arange(one.classes + 1))
    return Shown(starts, values[kept], counts[kept])
