"""The axis of a text: the distinct values of the raw column."""

import numpy as np
import pyarrow as pa

from anon_sql.core.labels.read import read_sets
from anon_sql.queries.axis import Axis, members
from anon_sql.queries.quasi import Quasi


def axis_of_words(quasi: Quasi, shown: pa.Array) -> Axis:
    """Return the axis of a text and its labels, without values that the raw column lacks. Raises
    AnonError for a label that has no other."""
    said = read_sets(shown)
    words = [word for word in quasi.place_of if word is not None]
    place_of = {word: place for place, word in enumerate(words)}
    listed = [[place_of[w] for w in label or () if w in place_of] for label in said.words]
    if any(not places for places, label in zip(listed, said.words, strict=True) if label):
        raise quasi.other()
    nulls = quasi.domain.nulls
    null = np.asarray(quasi.word_truth([None] * nulls).any(axis=0))
    return Axis.of_sets(quasi.word_truth(words), null, nulls, said, members(listed))
