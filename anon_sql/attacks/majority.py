"""An attacker who knows the class of each row and guesses the majority of its sensitive values."""

import numpy as np
import numpy.typing as npt

from anon_sql.attacks.people import People
from anon_sql.core.labels.coverage import Ints


def majority(people: People) -> tuple[npt.NDArray[np.float64], Ints]:
    """Return the right guesses by sensitive column, float64[s] and int64[s].

    The first are those of an attacker who guesses the majority of each class, for all rows of the
    release; the second are those of one who guesses the most frequent value of the release. Source:
    the program that the authors of SDkA have published (Majeed and Hwang 2025). Departure: NULL is
    no value and is never guessed.
    """
    columns = len(people.sensitive)
    of_class = np.repeat(np.arange(len(people.sizes)), np.diff(people.starts))
    of_column = people.column_of[people.values]
    most = np.zeros((len(people.sizes), columns))
    np.maximum.at(most, (of_class, of_column), people.counts)
    common = np.zeros(columns, dtype=np.int64)
    np.maximum.at(common, people.column_of, people.shown)
    return most.sum(axis=0), common
