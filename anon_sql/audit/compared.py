"""The rows of a raw table beside the classes of its release, as an audit compares them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.audit.asked import Asked
from anon_sql.audit.hashed import ALL, Hashed, Marks, Rows
from anon_sql.core.labels.coverage import Coverage, Ints
from anon_sql.core.labels.read import Bools
from anon_sql.core.printing import printed
from anon_sql.core.roles import fold

if TYPE_CHECKING:
    from anon_sql.audit.telling_columns import Look


@dataclass(frozen=True)
class Raw:
    """n rows. values: of each quasi-identifier, its u different values; often: int64[u], how many
    rows have each; places: whole numbers [n], which one each row has. marks: of every other column.
    ascending: whether a column ascends as it is scanned. distinct: of each sensitive column structs
    of key (see ``Held``), mark and value; empty where no order of its values is asked for."""

    values: Mapping[str, pa.Array]
    often: Mapping[str, Ints]
    places: Mapping[str, Ints]
    marks: Mapping[str, Hashed]
    ascending: Mapping[str, bool]
    distinct: Mapping[str, pa.StructArray]

    def ascends(self, name: str) -> bool:
        return bool(named(self.ascending, name))


@dataclass(frozen=True)
class Released:
    """c classes. labels: of each quasi-identifier, an array of c. sizes int64[c]: rows of each.
    marks: of every other column, class by class. looks: of the same columns."""

    labels: Mapping[str, pa.Array]
    sizes: Ints
    marks: Mapping[str, Hashed]
    looks: Mapping[str, "Look"]

    def look(self, name: str) -> "Look":
        look: Look = named(self.looks, name)
        return look


@dataclass(frozen=True)
class Compared:
    """n raw rows and m released rows in c classes; columns: by name, what the labels of each
    quasi-identifier cover of its different values."""

    asked: Asked
    raw: Raw
    released: Released
    columns: Mapping[str, Coverage]

    @property
    def rows(self) -> int:
        return len(next(iter(self.raw.places.values())))

    @property
    def shown(self) -> int:
        return len(self.class_of)

    @property
    def left_out(self) -> int:
        return max(self.rows + self.asked.synthetic - self.shown, 0)

    @property
    def sizes(self) -> Ints:
        return self.released.sizes

    @cached_property
    def class_of(self) -> npt.NDArray[np.int32]:
        """The class of each released row, ascending."""
        return np.repeat(np.arange(len(self.sizes), dtype=np.int32), self.sizes)

    @cached_property
    def starred(self) -> Bools:
        """Which classes have ``*`` in every quasi-identifier."""
        starred: Bools = np.all([column.star for column in self.columns.values()], axis=0)
        return starred

    def raw_marks(self, name: str, rows: Rows = ALL) -> Marks:
        """Return hashes of the values of raw rows."""
        column: Hashed = named(self.raw.marks, name)
        return column.at(rows)

    def marks(self, name: str, rows: Rows = ALL) -> Marks:
        """Return hashes of the values of released rows, class by class."""
        column: Hashed = named(self.released.marks, name)
        return column.at(rows)

    def raw_hashes(self, rows: Rows) -> Marks:
        """Return a hash of some raw rows over the columns that both relations have."""
        places = next(iter(self.raw.places.values()))
        return _mixed(len(places[rows]), [self.raw_marks(n, rows) for n in self.asked.shared])

    def hashes(self, rows: Rows) -> Marks:
        """Return a hash of some released rows over the columns that both relations have."""
        return _mixed(len(self.class_of[rows]), [self.marks(n, rows) for n in self.asked.shared])

    def texts(self, name: str, some: Bools | Ints) -> list[str | None]:
        """Return some labels of a column as text; what DuckDB prints of structs and lists."""
        labels, at = self.columns[name].shown, np.arange(len(self.columns[name].shown))[some]
        labels = labels.take(pa.array(at))
        if pa.types.is_string(labels.type):
            return list(labels.to_pylist())
        return list(printed([labels], [self.asked.types[name]])[0].to_pylist())

    def where(self, classes: Sequence[int] | Ints) -> str | None:
        """The labels of one of these classes: the first by how it reads."""
        texts = [
            [text or "NULL" for text in self.texts(name, column.label_of[classes])]
            for name, column in self.columns.items()
        ]
        found = min(zip(*texts, strict=True), default=None)
        if found is None:
            return None
        return ", ".join(f"{n}: {x}" for n, x in zip(self.columns, found, strict=True))


def _mixed(rows: int, columns: Sequence[Marks]) -> Marks:
    from anon_sql.kernels.hash.hashing import mix

    return reduce(mix, (column.view(np.int64) for column in columns), np.zeros(rows, np.uint64))


def named(columns: Mapping[str, Any], name: str) -> Any:
    """The entry of a column, which the release may spell in another way."""
    return next(values for known, values in columns.items() if fold(known) == fold(name))
