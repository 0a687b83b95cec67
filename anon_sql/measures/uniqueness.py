"""Count rows with rare combinations of values, and find the columns that contribute most."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql import kernels
from anon_sql.core import stopping
from anon_sql.errors import listed

Codes = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

UNIQUE_SHARE = 0.0  # of the rows: may be unique on the kept columns together, unless asked
RARE_SHARE = 0.1  # of the rows: users are told if more have kept values of fewer than k rows
MAX_STEPS = 3  # columns that are named
_NUMBERS_PER_ROW = 4  # numbers per row up to which combinations are counted as they are
ENOUGH_SHARE = 0.95  # share of the unique rows at which further columns add little


@dataclass(frozen=True)
class UniqueStep:
    """The rows that few others equal on ``column`` and the columns of the steps before it."""

    column: str
    rows: int


def codes_of(values: pa.Array | npt.NDArray[np.generic]) -> Codes:
    """Return a number for each distinct value, int64[n] from 0; NULL is a value."""
    encoded = pa.array(values).dictionary_encode(null_encoding="encode")
    codes: Codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return codes


def joined(first: Codes, second: Codes) -> Codes:
    """Return a number for each distinct pair, int64[n] from 0, of two results of ``codes_of``."""
    width = int(second.max(initial=0)) + 1
    return codes_of(first * width + second)


def unique_rows(codes: Codes) -> npt.NDArray[np.bool_]:
    """Return whether a row's number occurs once, bool[n]."""
    is_unique: npt.NDArray[np.bool_] = (np.bincount(codes, minlength=1) == 1)[codes]
    return is_unique


@dataclass(frozen=True)
class Numbered:
    """A number for each combination of values of some columns; all are below ``width``.

    codes: int64[n]. Combinations are numbered anew only if they would need more than a few numbers
    per row, which is what counting them costs.
    """

    codes: Codes
    width: int

    @classmethod
    def of(cls, codes: Codes) -> "Numbered":
        """Return the numbers of ``codes_of`` with their width."""
        return cls(codes, int(codes.max(initial=-1)) + 1)

    def beside(self, other: "Numbered") -> "Numbered":
        """Return the combinations of both."""
        width = self.width * other.width
        if width > _NUMBERS_PER_ROW * len(self.codes):
            return Numbered.of(joined(self.codes, other.codes))
        return Numbered(self.codes * other.width + other.codes, width)

    def of_rows(self, rows: npt.NDArray[np.int64]) -> "Numbered":
        """Return the numbers of some rows."""
        return Numbered(self.codes[rows], self.width)

    def unique(self) -> npt.NDArray[np.bool_]:
        """Return whether a row's combination occurs once, bool[n]."""
        return unique_rows(self.codes)


def counts(hashes: Hashes, fewer_than: int = 2) -> tuple[int, int]:
    """Return the number of rows whose hash fewer than ``fewer_than`` rows have, and the number of
    distinct hashes. Sorts the hashes in place."""
    hashes.sort()
    starts = np.flatnonzero(np.append(True, hashes[1:] != hashes[:-1]))[: len(hashes)]
    sizes = np.diff(starts, append=len(hashes))
    return int(sizes[sizes < fewer_than].sum()), len(starts)


def few_together(
    names: Sequence[str], hashes_of: Callable[[str], Hashes], fewer_than: int = 2
) -> tuple[int, list[UniqueStep]]:
    """Return the number of rows whose combination of values is rare, and the columns that
    contribute most.

    hashes_of: a hash of each value of a column, uint64[n]. fewer_than: 2 for unique rows. Columns
    are added one by one, each the one that leaves most such rows (among equals most combinations of
    values, then the first), until ``ENOUGH_SHARE`` of the rows of all columns are reached, or
    ``MAX_STEPS`` columns.
    """
    if not names:
        return 0, []

    combined = np.zeros(len(hashes_of(names[0])), dtype=np.uint64)

    def beside(before: Hashes, name: str) -> Hashes:
        stopping.check()
        mixed: Hashes = kernels.hashing.mix(before, hashes_of(name).view(np.int64))
        return mixed

    total, _ = counts(reduce(beside, names, combined), fewer_than)
    steps: list[UniqueStep] = []
    while total and len(steps) < MAX_STEPS and (not steps or steps[-1].rows < ENOUGH_SHARE * total):
        chosen = {step.column for step in steps}
        candidates = {n: counts(beside(combined, n), fewer_than) for n in names if n not in chosen}
        if not candidates:
            break
        best = max(candidates, key=lambda name: candidates[name])
        combined = beside(combined, best)
        steps.append(UniqueStep(best, candidates[best][0]))
    return total, steps


def steps_text(steps: list[UniqueStep], rows: int, what: str = "unique") -> str | None:
    """Return the steps as text: ``zip alone 71.2%, with job 93.0% of the rows are unique``."""
    if not steps:
        return None
    first, *others = [(listed([step.column]), f"{step.rows / rows:.1%}") for step in steps]
    more = "".join(f", with {name} {share}" for name, share in others)
    return f"{first[0]} alone {first[1]}{more} of the rows are {what}"
