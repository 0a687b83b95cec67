"""Find the identifier that distinguishes the people behind the rows, if they have several rows.

An identifier that repeats either numbers people with several rows, or is shared by chance, such as
a street or a name. A number or a code counts as a key of people, because no two people get one
number. A name, an address or a text counts as a key only if rows with one value also have equal
quasi-identifiers, as the rows of one person do.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_sql import kernels

Marks = npt.NDArray[np.uint64]

PERSON, KEY, SHARED = "person", "key", "shared"  # kinds of identifiers: see ``Identifier``
_ORDER = (PERSON, KEY, SHARED)
ALIKE = 0.5  # share of pairs of rows with one value from which on the rows are one person's
SAMPLE_ROWS = 1 << 18  # of a larger table only some values are compared
MIN_VALUES, MAX_ROWS_PER_PERSON = 20, 50  # of a column that numbers people
CHANCE = 0.01  # share of all pairs of rows that may be equal in every quasi-identifier


@dataclass(frozen=True)
class Alike:
    """The similarity of two rows with the same value of an identifier, as means over such pairs.

    each: share of the quasi-identifiers in which they are equal. all: share of the pairs that are
    equal in every one of them. Both are 0 without pairs or without quasi-identifiers.
    """

    each: float = 0.0
    all: float = 0.0


@dataclass(frozen=True)
class Identifier:
    """An identifier of a table.

    kind: ``PERSON``, a number or code of a person by its name; ``KEY``, another number or code;
    ``SHARED``, what different people may share. rows: the number in which it is not NULL; values:
    the number of their distinct values.
    """

    name: str
    kind: str
    rows: int
    values: int
    alike: Alike = Alike()

    @property
    def repeats(self) -> bool:
        """Return whether several rows have one value."""
        return self.values < self.rows

    @property
    def numbers_people(self) -> bool:
        """Return whether rows with one value appear to belong to one person."""
        return self.kind != SHARED or self.alike.all >= ALIKE


def several_rows(identifiers: Sequence[Identifier]) -> list[Identifier]:
    """Return the identifiers of a table by which people may have several rows.

    Numbers of people come before other numbers, and these before names: beside a number of the
    patient, that of a physician does not count. If each row has another number of a person, rows
    are people, and an e-mail address that repeats is shared.
    """
    unique = [
        identifier.rows
        for identifier in identifiers
        if identifier.kind == PERSON and not identifier.repeats
    ]
    repeating = [
        identifier
        for identifier in identifiers
        if identifier.repeats
        and identifier.numbers_people
        and (identifier.kind == PERSON or max(unique, default=-1) < identifier.rows)
    ]
    best = min((_ORDER.index(identifier.kind) for identifier in repeating), default=0)
    return [identifier for identifier in repeating if identifier.kind == _ORDER[best]]


def person_key(identifiers: Sequence[Identifier]) -> Identifier | None:
    """Return the identifier to count people by; None if people have one row each.

    Among those of ``several_rows``, it is one whose rows are alike in most quasi-identifiers: a
    patient's are, and a physician's are not. Of several, the one known in most rows is chosen, and
    then the one with the fewest values: a customer has several orders.
    """
    return min(
        several_rows(identifiers),
        key=lambda identifier: (identifier.alike.each < ALIKE, -identifier.rows, identifier.values),
        default=None,
    )


def values_of(marks: Marks) -> tuple[int, int]:
    """Return the number of rows in which a column is not NULL, and of their distinct values.

    marks: a hash of each value, uint64[n], 0 for NULL.
    """
    non_null = np.sort(marks[marks != 0])
    return len(non_null), int((non_null[1:] != non_null[:-1]).sum()) + min(len(non_null), 1)


def alike(marks: Marks, quasi: Sequence[npt.NDArray[np.generic]]) -> Alike:
    """Return how alike rows with one value are; quasi: a number or hash of each quasi-identifier's
    value in each row."""
    chosen = marks != 0
    step = len(marks) // SAMPLE_ROWS + 1
    if step > 1:  # all rows of some values
        chosen &= (marks >> np.uint64(33)) % np.uint64(step) == 0
    values_of_rows = marks[chosen]
    pairs = _pairs(values_of_rows)
    if not pairs or not quasi:
        return Alike()
    together, shares = values_of_rows, []
    for values in quasi:
        numbers = values[chosen].astype(np.int64, copy=False)
        shares.append(_pairs(kernels.hashing.mix(values_of_rows, numbers)) / pairs)
        together = kernels.hashing.mix(together, numbers)
    return Alike(float(np.mean(shares)), _pairs(together) / pairs)


def tells_people_apart(marks: Marks, quasi: Sequence[npt.NDArray[np.generic]]) -> bool:
    """Return whether a column numbers people who have several rows, whatever it is called.

    Rows with one value are equal in every quasi-identifier, as the rows of one person are, and rows
    that are equal in every one have one value. The arguments are those of ``alike``.
    """
    rows, values = values_of(marks)
    if not MIN_VALUES <= values < rows <= MAX_ROWS_PER_PERSON * values or not quasi:
        return False
    if alike(marks, quasi).all < ALIKE:
        return False
    everywhere = np.ones(len(marks), np.uint64)
    for column in quasi:
        numbers = column.astype(np.int64, copy=False)
        everywhere = kernels.hashing.mix(everywhere, numbers)
    pairs = _pairs(everywhere)
    if pairs > CHANCE * len(marks) * (len(marks) - 1) / 2:
        return False
    return alike(everywhere, [marks]).all >= ALIKE


def _pairs(marks: Marks) -> int:
    """Count the pairs of rows with the same hash."""
    often = np.unique(marks, return_counts=True)[1].astype(np.int64)
    return int((often * (often - 1)).sum()) // 2
