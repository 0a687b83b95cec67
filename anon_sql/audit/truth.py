"""What both relations say of the truth of a release, found for a part of the rows at a time.

A released row and the raw rows that it may stem from have the same kept values. Rows are therefore
divided by a hash of these, and memory is that of a part. The slots of a part are counted first, and
of the largest part before all others: where most rows have the same kept values there are too many
pairs, and nothing else is made.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from anon_sql.audit import persons
from anon_sql.audit.alike_parts import Part, parts
from anon_sql.audit.compared import Compared
from anon_sql.audit.hashed import Marks
from anon_sql.audit.ranks import ranked
from anon_sql.audit.slots import Slots
from anon_sql.audit.stems import Labels, Stems, stems, unmatched
from anon_sql.core.labels.coverage import Coverage, Ints, Places, codes_of, labels_of, narrowest

PAIRS = 2_000_000_000  # up to which rows are compared


@dataclass
class Truth:
    """more: released rows above the raw rows with their kept values. pairs: of a raw row and a
    class that shows its kept values.

    false: released rows that cover no raw row with their kept values, of the classes in ``wrong``;
    uncovered: raw rows that no released row covers; left: released rows without a raw row of their
    own, None where that was not found out. Where the release does not say whose its rows are:
    holders: of each part, see ``persons``, None where the raw rows are too many to list; whose: a
    mark of whose each released row is, uint64[m], None where nobody can tell.
    """

    more: int = 0
    pairs: int = 0
    false: int = 0
    wrong: list[Ints] = field(default_factory=list)
    uncovered: int = 0
    left: int | None = 0
    holders: list[persons.Holders] | None = None
    whose: Marks | None = None

    @property
    def many(self) -> bool:
        """Whether too many rows share their kept values for the rest."""
        return self.pairs > PAIRS


def truth(given: Compared) -> Truth:
    """Compare all rows."""
    told, labels = Truth(), _Labels(given)
    if given.asked.entity is not None and not persons.shows(given):
        told.holders, told.whose = [], np.empty(given.shown, np.uint64)
    for part in parts(given):
        _add(told, given, part, labels)
    if told.many:
        told.holders = told.whose = None
    return told


def _add(told: Truth, given: Compared, part: Part, labels: "_Labels") -> None:
    """Compare the rows of a part, unless there are too many pairs with them."""
    found = _counted(told, given, part)
    if found is None:
        return
    known = labels.stems(found, part.raw)
    wrong = known.many == 0
    told.false += int(found.capacity[wrong].sum())
    told.wrong.append(np.unique(found.classes[wrong]))
    told.uncovered += known.uncovered
    left = unmatched(found, known)
    told.left = None if told.left is None or left is None else told.left + left
    _add_persons(told, given, part, found, known)


def _counted(told: Truth, given: Compared, part: Part) -> Slots | None:
    """Return the slots of a part, None where there are too many pairs with them."""
    counted = part.counted(given, told.whose is not None)
    told.more, told.pairs = told.more + counted.more, told.pairs + counted.pairs
    return None if told.many else counted.slots()


def _add_persons(told: Truth, given: Compared, part: Part, found: Slots, known: Stems) -> None:
    if told.holders is None:
        return
    if known.rows is None:
        told.holders = told.whose = None
        return
    who = given.raw_marks(str(given.asked.entity), part.raw)
    told.holders.append(persons.holders(found, known, who))
    if told.whose is None or told.left != 0:  # forced() takes slots that all have raw rows
        told.whose = None
        return
    forced = persons.forced(found, known, who)
    if forced is None:
        told.whose = None
    else:
        told.whose[part.released] = forced


class _Labels:
    """What the labels cover, which is made when it is needed first."""

    def __init__(self, given: Compared) -> None:
        self._given = given

    @cached_property
    def _columns(self) -> list[Coverage]:
        return [ranked(column) for column in self._given.columns.values()]

    @cached_property
    def _labels(self) -> Labels:
        return labels_of(self._columns)

    @cached_property
    def _narrowest(self) -> int:
        raw = self._given.raw
        return narrowest(self._columns, [raw.often[name] for name in self._given.columns])

    def stems(self, found: Slots, raw: npt.NDArray[np.int32]) -> Stems:
        """Return the raw rows of each slot; raw: the rows that the slots are of."""

        def codes(some: npt.NDArray[np.int32]) -> Places:
            places = self._given.raw.places
            return codes_of(self._columns, [places[n][raw[some]] for n in self._given.columns])

        return stems(found, codes, self._labels, self._narrowest)
