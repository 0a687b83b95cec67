"""Define the rows that a host passes to the computation of a release."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa


@dataclass(frozen=True)
class Source:
    """n rows in source order, as Arrow arrays by column name.

    quasi: values of the quasi-identifiers. hashes: uint64[n], a hash of the kept columns of each
    row. keys: binary sort keys of each protected column and of the entity, empty for NULL.
    classes: class ids that come with the table. real: bool[n], false for synthetic rows; None if
    there are none.
    """

    quasi: Mapping[str, pa.Array]
    hashes: pa.Array
    keys: Mapping[str, pa.Array] = field(default_factory=dict)
    classes: pa.Array | None = None
    real: npt.NDArray[np.bool_] | None = None
