"""Define the rows that a host passes to the computation of a release."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.errors import AnonError


@dataclass(frozen=True)
class Source:
    """n rows in source order, as Arrow arrays by column name.

    quasi: values of the quasi-identifiers. hashes: uint64[n], a hash of the kept columns of each
    row. keys: binary sort keys of each protected column and of the entity, empty for NULL.
    classes: class ids that come with the table. marks: hashes of the values of columns without a
    role. real: bool[n], false for synthetic rows; None if there are none.
    """

    quasi: Mapping[str, pa.Array]
    hashes: pa.Array
    keys: Mapping[str, pa.Array] = field(default_factory=dict)
    classes: pa.Array | None = None
    marks: Mapping[str, pa.Array] = field(default_factory=dict)
    real: npt.NDArray[np.bool_] | None = None


def refuse_identifying(
    function: str,
    k: int,
    marks: Mapping[str, pa.Array],
    real: npt.NDArray[np.bool_] | None = None,
) -> None:
    """Raise AnonError for a column without a role whose values are all distinct.

    A column with at most k values is accepted. marks: a hash of each value, by name of the column;
    real: bool[n], the rows that are counted, None for all.
    """
    for name, hashes in marks.items():
        counted = hashes if real is None else hashes.filter(pa.array(real))
        values = counted.drop_null().to_numpy(zero_copy_only=False)
        if len(values) <= k or len(np.unique(values[:1000])) < len(values[:1000]):
            continue
        if len(np.unique(values)) == len(values):
            raise AnonError(
                function,
                "a column whose values are all distinct needs a role",
                f"none for {name} ({len(values):,} values)",
                "name it in identifiers, qids, sensitive or keep",
            )
