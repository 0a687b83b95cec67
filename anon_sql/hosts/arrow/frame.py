"""Define what a host does for a release in one statement: read rows and assemble the result."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import occurring, one_array
from anon_sql.core.names import quote
from anon_sql.core.running import Workers
from anon_sql.hosts.arrow.rows import ArrowColumns

Positions = npt.NDArray[np.int32]
_SAMPLE = 4096  # values of a column that show whether they recur


@dataclass(frozen=True)
class Frame:
    """A table that was given, here a PyArrow table or a file.

    native: as it was given. columns: its columns, as the core takes them.
    """

    native: Any
    columns: ArrowColumns

    def from_table(self, table: pa.Table) -> Any:
        """Return a table as a frame of this kind."""
        return table

    # Whether labels of types that Arrow lacks are text, which ``finished`` casts.
    casts: ClassVar[bool] = False

    def warn(self) -> None:
        """Warn of what a release leaves out besides identifiers."""

    def assembled(
        self,
        rows: pa.Table,
        positions: Mapping[str, Positions],
        labels: Mapping[str, Callable[[], pa.Array]],
        workers: Workers,
    ) -> Any:
        """Return released rows as a frame that ``finished`` takes: of pandas, Polars or PyArrow.

        rows: the columns that are released unchanged, as ``ArrowColumns.read`` returns them.
        positions: the rows of each of them, int32[r]. labels: of each quasi-identifier, r values.
        The columns of the result are in the order of the table.
        """
        jobs: list[tuple[Callable[[], Any]]] = [
            (partial(_taken, rows[name], places),) for name, places in positions.items()
        ]
        jobs += [(make,) for make in labels.values()]
        size = len(next(iter(positions.values()), ())) or 1
        arrays = workers.map(_call, jobs, [size] * len(jobs))
        by_name = dict(zip([*positions, *labels], arrays, strict=True))
        return pa.table({name: by_name[name] for name in self.columns.types if name in by_name})

    def sent(self, assembled: Any, types: Mapping[str, pa.DataType]) -> pa.Table:
        """Return an assembled frame as Arrow; types: those of its columns by name."""
        return assembled

    def finished(self, assembled: Any, casts: Mapping[str, str | None]) -> Any:
        """Return an assembled frame, whose columns may be carried as text, as this kind.

        casts: by quasi-identifier the SQL type of labels that come as text, None for others.
        """
        return assembled


def _taken(values: pa.ChunkedArray, positions: Positions) -> pa.Array:
    """Return the values at positions, which are in random order; see ``occurring``.

    Text that recurs is taken through its dictionary, in a third of the time.
    """
    indices, sample = pa.array(positions), pa.array(positions[:_SAMPLE])
    text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    if not text or pc.count_distinct(values.take(sample)).as_py() > len(sample) // 4:
        return occurring(one_array(values).take(indices))
    coded = one_array(values.dictionary_encode().unify_dictionaries())
    return coded.dictionary.take(coded.indices.take(indices))


def _call(make: Callable[[], Any]) -> Any:
    return make()


def in_own_types(
    names: Sequence[str], columns: ArrowColumns, casts: Mapping[str, str | None]
) -> str:
    """Return released columns in their SQL types, as a SQL list."""
    wanted = [
        columns.cast(name)
        if name not in casts
        else f"CAST({quote(name)} AS {casts[name]}) AS {quote(name)}"
        if casts[name] is not None
        else quote(name)
        for name in names
    ]
    return ", ".join(wanted)
