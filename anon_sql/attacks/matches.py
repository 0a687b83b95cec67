"""What each attacked person's matching rows hold, by the kernel, block by block."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_sql.attacks.people import People
from anon_sql.workers import Workers

_BLOCK = 1024  # persons between two looks at Ctrl-C
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Matches:
    """rows int64[p]: how many match. Of each sensitive column, int64[p, s]: varied, how many
    values they have; most, how often the most frequent one; ties, how many are as frequent; mine,
    how often the person's own."""

    rows: Counts
    varied: Counts
    most: Counts
    ties: Counts
    mine: Counts


def matches(people: People, persons: Counts, known: Counts, threads: int) -> Matches:
    """persons int64[p]: whom to attack; known int64[p, j]: the columns known of each."""
    from anon_sql.kernels.matching import match

    shape = (len(persons), len(people.sensitive))
    rows = np.zeros(len(persons), dtype=np.int64)
    found = Matches(rows, *(np.zeros(shape, dtype=np.int64) for _ in range(4)))
    columns = people.columns
    if not columns:
        return found
    codes = np.stack([one.codes for one in columns], axis=1)[persons]
    low, high = (np.stack([getattr(c, end) for c in columns], axis=1) for end in ("low", "high"))
    before = np.cumsum([0, *(len(one.sets) for one in columns[:-1])])
    at = np.stack([one.at for one in columns], axis=1)
    at = np.where(at < 0, at, at + before)
    sets = np.concatenate([one.sets for one in columns])
    held = (people.sizes, people.starts, people.values, people.counts)
    own = people.own[persons]
    jobs = []
    for first in range(0, len(persons), _BLOCK):
        block = slice(first, first + _BLOCK)
        out = tuple(
            array[block] for array in (found.rows, found.varied, found.most, found.ties, found.mine)
        )
        persons_of = (codes[block], known[block], own[block])
        jobs.append((*persons_of, low, high, at, sets, held, people.column_of, out))
    Workers(people.function, threads).map(match, jobs, [len(job[0]) for job in jobs])
    return found
