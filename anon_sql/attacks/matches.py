"""What each attacked person's matching rows hold, by the kernel, block by block."""

from dataclasses import dataclass

import numpy as np

from anon_sql.attacks.people import People
from anon_sql.core.labels.coverage import Ints, labels_of
from anon_sql.core.workers import Workers

_BLOCK = 1024  # persons between two looks at Ctrl-C


@dataclass(frozen=True)
class Matches:
    """rows int64[p]: how many match. Of each sensitive column, int64[p, s]: varied, how many
    values they have; most, how often the most frequent one; ties, how many are as frequent; mine,
    how often the person's own."""

    rows: Ints
    varied: Ints
    most: Ints
    ties: Ints
    mine: Ints


def matches(people: People, persons: Ints, known: Ints, threads: int) -> Matches:
    """persons int64[p]: whom to attack; known int64[p, j]: the columns known of each."""
    from anon_sql.kernels.legal.matching import match

    shape = (len(persons), len(people.sensitive))
    rows = np.zeros(len(persons), dtype=np.int64)
    found = Matches(rows, *(np.zeros(shape, dtype=np.int64) for _ in range(4)))
    codes, labels, own = people.codes[persons], labels_of(people.columns), people.own[persons]
    held = (people.sizes, people.starts, people.values, people.counts)
    jobs = []
    for first in range(0, len(persons), _BLOCK):
        block = slice(first, first + _BLOCK)
        out = tuple(
            array[block] for array in (found.rows, found.varied, found.most, found.ties, found.mine)
        )
        jobs.append((codes[block], known[block], own[block], labels, held, people.column_of, out))
    Workers(people.function, threads).map(match, jobs, [len(job[0]) for job in jobs])
    return found
