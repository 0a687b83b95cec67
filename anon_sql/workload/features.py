"""Labels as features of a classifier: midpoints of ranges, shares of the members of sets."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql import labels
from anon_sql.columns import is_number
from anon_sql.errors import AnonError
from anon_sql.workload.leaves import below, grown

Said = float | tuple[str, ...] | None  # a midpoint, members, or nothing known


def said(
    function: str,
    name: str,
    kind: str,
    texts: Sequence[str | None],
    raw: bool,
    paths: Sequence[Mapping[str, Any]] | None = None,
) -> list[Said]:
    """What each text of a column says; raw: values and no labels. Each is read once.

    paths: the rows of the column's hierarchy, ordered by leaf; None where it has none.
    """
    number = is_number(function, name, kind)
    tree, order = grown(function, name, kind, paths) if paths else (None, {})
    known: dict[str | None, Said] = {None: None}
    for text in texts:
        if text in known or text is None:
            continue
        if tree is not None and text != labels.STAR and text in tree.node_of:
            leaves = below(tree, order, tree.node_of[text])
            known[text] = _between(kind, leaves[0], leaves[-1]) if number else tuple(leaves)
        else:
            known[text] = _middle(kind, text) if number else _members(text, raw)
    return [known[text] for text in texts]


def _middle(kind: str, text: str) -> float | None:
    ends = labels.bounds(text)
    return None if ends is None else _between(kind, *ends)


def _between(kind: str, low: str, high: str) -> float:
    return (_number(kind, low) + _number(kind, high)) / 2


def _number(kind: str, end: str) -> float:
    if kind.startswith("TIME") and not kind.startswith("TIMESTAMP"):
        hours, minutes, seconds = end.split(":")
        return int(hours) * 3600 + int(minutes) * 60 + float(seconds)
    if kind.startswith(("DATE", "TIMESTAMP")):
        try:
            return float(np.datetime64(end.removesuffix("+00"), "us").astype(np.int64))
        except ValueError:
            rule = "dates must be of our era"
            raise AnonError("classification", rule, "others", "leave the column out") from None
    return float(end)


def _members(text: str, raw: bool) -> tuple[str, ...] | None:
    if raw:
        return (text,)
    if text.startswith('["'):
        return tuple(json.loads(text))
    found = labels.values(text)
    return None if found is None else tuple(found)


class Encoder:
    """A column as numbers, fitted on the training part alone.

    A range is its midpoint, scaled; a set gives each of its members an equal share, and a member
    that the training part lacks counts for none. ``*`` and NULL are the mean of what was seen.
    """

    def __init__(self, train: Sequence[Said]):
        words = sorted({word for one in train if isinstance(one, tuple) for word in one})
        self.place = {word: at for at, word in enumerate(words)}
        numbers = [one for one in train if isinstance(one, float)]
        self.mean = float(np.mean(numbers)) if numbers else 0.0
        self.scale = float(np.std(numbers)) if numbers else 0.0
        self.unknown = np.zeros(len(words))
        seen = [self._shares(one) for one in train if isinstance(one, tuple)]
        if seen:
            self.unknown = np.mean(seen, axis=0)

    def encode(self, values: Sequence[Said]) -> npt.NDArray[np.float64]:
        """float64[n, 1] or float64[n, words]."""
        if not self.place:
            middles = [one if isinstance(one, float) else self.mean for one in values]
            return (np.array(middles).reshape(-1, 1) - self.mean) / (self.scale or 1.0)
        known: dict[Said, npt.NDArray[np.float64]] = {
            one: self._shares(one) if isinstance(one, tuple) else self.unknown
            for one in set(values)
        }
        return np.array([known[one] for one in values]).reshape(len(values), -1)

    def _shares(self, members: tuple[str, ...]) -> npt.NDArray[np.float64]:
        row = np.zeros(len(self.place))
        for word in members:
            if word in self.place:
                row[self.place[word]] += 1 / len(members)
        return row
