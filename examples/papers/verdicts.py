"""Verdicts on claims, by one rule for all papers: its direction, then its size."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

Figures = Mapping[int, float]  # k → figure
NEAR = 0.25  # a size is "as printed" if it is the printed one give or take a quarter


class Verdict(NamedTuple):
    """What was measured, whether the direction of the claim holds, and whether its size does."""

    measured: str
    direction: str
    size: str


NOTHING = Verdict("–", "–", "–")


def every(changes: Sequence[float]) -> str:
    """Return the verdict on a claim for all k; a change below 0 supports it."""
    held, of = sum(change < 0 for change in changes), len(changes)
    return "–" if not of else "holds" if held == of else f"{held} of {of} k" if held else "fails"


def some(changes: Sequence[float]) -> str:
    held = sum(change < 0 for change in changes)
    return f"holds ({held} of {len(changes)} k)" if held else "fails"


def average(changes: Sequence[float]) -> str:
    return "holds" if _mean(changes) < 0 else "fails"


def most(changes: Sequence[float]) -> str:
    held = sum(change < 0 for change in changes)
    return f"{'holds' if 2 * held > len(changes) else 'fails'} ({held} of {len(changes)} k)"


def changes(ours: Figures, theirs: Figures, sign: int = 1) -> dict[int, float]:
    """Return by how many per cent figures differ from others; sign -1 turns a gain negative."""
    return {k: sign * 100 * (at / theirs[k] - 1) for k, at in ours.items() if theirs.get(k)}


def lower(
    ours: Figures,
    theirs: Figures,
    printed: float | Sequence[float] | None = None,
    quantifier: Callable[[Sequence[float]], str] = every,
    sign: int = 1,
) -> Verdict:
    """Judge that figures are lower than others (sign -1: higher), by ``printed`` per cent.

    One printed figure is compared with the mean over k and, failing that, with the best k.
    """
    found = list(changes(ours, theirs, sign).values())
    if not found:
        return NOTHING
    if isinstance(printed, Sequence):
        text = ", ".join(f"{sign * change:+.1f}" for change in found) + " %"
        return Verdict(text, quantifier(found), _sizes(found, printed))
    mean, best = _mean(found), min(found)
    text = f"mean {sign * mean:+.1f} %, best k {sign * best:+.1f} %"
    return Verdict(text, quantifier(found), _size(mean, best, printed))


def lowest(
    found: Mapping[str, Figures],
    ours: str,
    rivals: Sequence[str],
    quantifier: Callable[[Sequence[float]], str] = every,
    sign: int = 1,
) -> Verdict:
    """Judge that figures are the lowest (sign -1: the highest) of all compared."""
    choose = min if sign == 1 else max
    best = {
        k: choose(rivals, key=lambda name: found[name][k])
        for k, at in found[ours].items()
        if any(found[name][k] != at for name in rivals)  # else there is nothing to compare
    }
    theirs = {k: found[name][k] for k, name in best.items()}
    told = lower(found[ours], theirs, None, quantifier, sign)
    if told is NOTHING:
        return told
    names = ", ".join(dict.fromkeys(best.values()))
    return told._replace(measured=f"{told.measured}, best rival {names}")


def span(ours: Figures, theirs: Figures) -> str:
    """Return the range over k of the per cent by which figures differ from others."""
    found = list(changes(ours, theirs).values())
    return f"{min(found):+.1f} to {max(found):+.1f} %"


def near(ours: Figures, theirs: Figures, within: float = 10) -> Verdict:
    """Judge that figures are almost the same: within so many per cent."""
    found = list(changes(ours, theirs).values())
    return Verdict(span(ours, theirs), every([abs(change) - within for change in found]), "–")


def exposed(told: Verdict, shares: Figures) -> Verdict:
    """Return a verdict on releases without a guard, with the share of classes below k beside it."""
    low, high = 100 * min(shares.values()), 100 * max(shares.values())
    return told._replace(direction=f"{told.direction}; {low:.0f}–{high:.0f} % of classes below k")


def as_printed(found: float, printed: float) -> bool:
    return abs(found - printed) <= NEAR * abs(printed)


def _size(mean: float, best: float, printed: float | None) -> str:
    if printed is None:
        return "–"
    if as_printed(mean, printed):
        return "as printed"
    if as_printed(best, printed):
        return "as printed at the best k"
    return "none" if best >= 0 else "smaller" if mean > printed else "larger"


def _sizes(found: Sequence[float], printed: Sequence[float]) -> str:
    pairs = list(zip(found, printed, strict=True))
    near = sum(as_printed(*pair) for pair in pairs)
    if near:
        return "as printed" if near == len(pairs) else f"as printed at {near} of {len(pairs)} k"
    return _size(_mean(found), _mean(found), _mean(printed))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
