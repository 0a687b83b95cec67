"""Counterfeit rows: rows of nobody, which show a value that has left beside its group of values.

Source: Xiao and Tao (2007), section 4. Departure: a class has as many counterfeits of a value that
no row has any more as it has rows of the rarest other value of the group, not one.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.errors import AnonError, listed
from anon_sql.pipeline.request import Request
from anon_sql.pipeline.source import Source

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Spare:
    """Rows of which counterfeits can be made, one for each sensitive value of earlier releases.

    own: int32[n], the positions of the rows of the table in the source. at: the position of the row
    with a value, by its key. hashes: uint64, of all rows.
    """

    own: Codes
    at: Mapping[bytes, int]
    hashes: npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Counterfeits:
    """c rows. like: int32[c], a row of the table whose labels each shows. value: int32[c], a number
    of the value it shows, from 0. position: int32[c], of the row with this value in the source."""

    like: Codes
    value: Codes
    position: Codes


NONE = Counterfeits(*np.zeros((3, 0), np.int32))


def _require_plain(request: Request) -> None:
    """Raise AnonError for a call in which counterfeits would stand out or go uncounted."""
    others = [name for name in request.kept if name not in request.sensitive]
    asked = {
        "t": request.t < 1,
        "beta": request.beta is not None,
        "delta": request.delta is not None,
    }
    limits = [name for name, given in asked.items() if given]
    rule = "counterfeits must come "
    if request.options["previous"] is None:
        raise AnonError(request.function, rule + "with previous", "none", "leave counterfeits out")
    if others:
        rule += "without kept columns, which they have no values for"
        raise AnonError(request.function, rule, listed(others), "name them in identifiers")
    if limits:
        rule += "without t, beta and delta"
        raise AnonError(request.function, rule, " and ".join(limits), "leave them out")
    if request.suppressed == "drop":
        rule += "with suppressed := 'keep', so that rows can be counted"
        raise AnonError(request.function, rule, "'drop'")


def apart(source: Source, request: Request) -> tuple[Source, Spare | None]:
    """Return the rows of the table and, if counterfeits are asked for, those to make them of."""
    if not request.options.get("counterfeits"):
        return source, None
    _require_plain(request)
    hashes = source.hashes.to_numpy(zero_copy_only=False)
    if source.real is None:
        return source, Spare(np.arange(len(hashes), dtype=np.int32), {}, hashes)
    chosen, spare = pa.array(source.real), np.flatnonzero(~source.real).astype(np.int32)
    quasi = {name: values.filter(chosen) for name, values in source.quasi.items()}
    keys = {name: values.filter(chosen) for name, values in source.keys.items()}
    words = source.keys[request.sensitive[0]].take(pa.array(spare)).to_pylist()
    own = np.flatnonzero(source.real).astype(np.int32)
    made = Spare(own, dict(zip(words, spare.tolist(), strict=True)), hashes)
    return Source(quasi, source.hashes.filter(chosen), keys), made


def counterfeits(
    function: str,
    classes: Codes,
    groups: Codes,
    values: Codes,
    known: int,
    lacking: Mapping[int, list[bytes]],
    spare: Spare,
) -> Counterfeits:
    """Return the counterfeits that classes of labels need to show their groups of values whole.

    classes, groups, values: int32[n], of each row; values from ``known`` on are none. lacking: the
    keys of the values that no row has, by group.
    """
    short = [group for group, words in lacking.items() if words]
    held = np.flatnonzero((values < known) & np.isin(groups, short))
    if not len(held):
        return NONE
    rows = np.column_stack([classes[held], groups[held], values[held]])
    once, first, counts = np.unique(rows, axis=0, return_index=True, return_counts=True)
    starts = np.flatnonzero(np.append(True, (once[1:, :2] != once[:-1, :2]).any(axis=1)))
    least, like = np.minimum.reduceat(counts, starts), held[first[starts]]
    words = [word for group in short for word in lacking[group]]
    if not spare.at.keys() >= set(words):
        raise AnonError(function, "previous must stay the same while it is read", "other values")
    of_group = np.repeat(short, [len(lacking[group]) for group in short])
    added = [
        (np.repeat(like[own], least[own]), number, spare.at[word])
        for number, (word, group) in enumerate(zip(words, of_group, strict=True))
        for own in [once[starts, 1] == group]
    ]
    sizes = [len(rows) for rows, _, _ in added]
    return Counterfeits(
        np.concatenate([rows for rows, _, _ in added]).astype(np.int32),
        np.repeat([number for _, number, _ in added], sizes).astype(np.int32),
        np.repeat([at for _, _, at in added], sizes).astype(np.int32),
    )
