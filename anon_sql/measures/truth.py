"""What an audit says of the labels and kept values of a release."""

from collections.abc import Sequence

import numpy as np

from anon_sql.measures.properties import MANY, Property, at_most, untold
from anon_sql.measures.readings import LEAST, MOST, Reading
from anon_sql.measures.release import Marks, Release
from anon_sql.measures.stems import Slots, Stems


def kept(given: Release, found: Slots) -> Property:
    """Released rows whose kept values stand in no raw row that is left."""
    more = found.more
    columns = [
        name
        for name in (given.asked["shared"] if more.any() else [])
        if _excess(given.raw_marks(name), given.marks(name))
    ]
    together = "values that do not stand together" if more.any() else None
    told = at_most("kept values", 0, int(more.sum()), ", ".join(columns) or together)
    return untold(told) if given.asked["synthetic"] else told


def _excess(raw: Marks, released: Marks) -> bool:
    """Whether a value is more frequent in the release."""
    values, often = np.unique(raw, return_counts=True)
    shown, count = np.unique(released, return_counts=True)
    if not len(values):
        return bool(len(shown))
    at = np.minimum(np.searchsorted(values, shown), len(values) - 1)
    return bool((count > np.where(values[at] == shown, often[at], 0)).any())


def labels(given: Release, found: Slots, known: Stems | None, left: int | None) -> list[Property]:
    """Necessary: every released row covers a raw row with its kept values, and conversely.
    Sufficient: a raw row of its own for each released row, which ``left`` rows lack."""
    names = ("labels", "raw rows", "matching")
    limits = (0, given.left_out, 0)
    if known is None:
        return [
            Property(name, limit, None, None, MANY)
            for name, limit in zip(names, limits, strict=True)
        ]
    wrong = known.many == 0
    false = given.where(np.unique(found.classes[wrong]))
    told = [
        at_most("labels", 0, int(found.capacity[wrong].sum()), false),
        at_most("raw rows", given.left_out, known.uncovered),
        at_most("matching", 0, left, MANY if left is None else None),
    ]
    return [untold(row) for row in told] if given.asked["synthetic"] else told


def spelling(given: Release, readings: Sequence[Reading]) -> Property:
    """Labels that no release prints: unreadable, of unknown values, or written in another way."""
    odd: dict[str, set[str]] = {}
    for name, reading in zip(given.asked["quasi"], readings, strict=True):
        if reading.odd.any():
            shown = given.said(name).field("shown").to_pylist()
            odd[name] = {str(shown[at]) for at in np.flatnonzero(reading.odd)}
    shown = [f"{name}: {min(texts)}" for name, texts in odd.items()]
    return at_most("spelling", 0, sum(map(len, odd.values())), shown[0] if shown else None)


def unique_ends(given: Release, readings: Sequence[Reading]) -> Property:
    """Ends of ranges that one raw row holds. A release prints ends, so they are no fault."""
    count, example = 0, None
    for name, reading in zip(given.asked["quasi"], readings, strict=True):
        if not reading.number:
            continue
        said = (reading.low > LEAST) & (reading.high < MOST) & (reading.low <= reading.high)
        ends = np.unique(np.concatenate([reading.low[said], reading.high[said]]))
        codes = np.sort(reading.codes)
        often = np.searchsorted(codes, ends, "right") - np.searchsorted(codes, ends, "left")
        single = ends[often == 1]
        count += len(single)
        if len(single) and example is None:
            has = said & (np.isin(reading.low, single) | np.isin(reading.high, single))
            texts = given.said(name).field("shown")
            example = f"{name}: {min(texts[int(at)].as_py() for at in np.flatnonzero(has))}"
    told = at_most("unique range ends", 0, count, example)
    return untold(told) if count else told
