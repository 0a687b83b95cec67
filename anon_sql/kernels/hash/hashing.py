"""Hash rows to 64 bits, column by column, with the finalizer of MurmurHash3."""

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel


@kernel
def _scramble(value: np.uint64) -> np.uint64:
    """Return the finalizer of MurmurHash3 of a uint64."""
    value ^= value >> np.uint64(33)
    value *= np.uint64(0xFF51AFD7ED558CCD)
    value ^= value >> np.uint64(33)
    value *= np.uint64(0xC4CEB9FE1A85EC53)
    value ^= value >> np.uint64(33)
    return value


@kernel
def mix(hashes: npt.NDArray[np.uint64], values: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """Return hashes uint64[n] of rows, extended by the next column's values int64[n]."""
    mixed = np.empty(len(hashes), dtype=np.uint64)
    for row in range(len(hashes)):
        turned = (hashes[row] << np.uint64(7)) | (hashes[row] >> np.uint64(57))
        mixed[row] = _scramble(turned ^ np.uint64(values[row]))
    return mixed


@kernel
def mix_in(
    hashes: npt.NDArray[np.uint64], values: npt.NDArray[np.int64], present: npt.NDArray[np.bool_]
) -> None:
    """Extend row hashes in place by a column's values and by whether each is present.

    hashes: uint64[n]; values: int64[n], counted as -1 where present, bool[n], is false.
    """
    for row in range(len(hashes)):
        hashed = hashes[row]
        turned = (hashed << np.uint64(7)) | (hashed >> np.uint64(57))
        hashed = _scramble(turned ^ np.uint64(values[row] if present[row] else -1))
        turned = (hashed << np.uint64(7)) | (hashed >> np.uint64(57))
        hashes[row] = _scramble(turned ^ np.uint64(present[row]))
