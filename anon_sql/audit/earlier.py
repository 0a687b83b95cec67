"""Properties of a release together with earlier ones.

An attack finds part of what is disclosed; only a series has a bound.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from anon_sql.audit.compared import Property, is_at_most
from anon_sql.measures.differences import Change
from anon_sql.privacy.model import figures, many

EARLIER = ("intersection", "joined", "left", "joined_and_left", "cohort_l")


@dataclass(frozen=True)
class Intersected:
    """The candidates that all releases together leave of one sensitive column.

    persons: people whom a release covers. below: those with fewer than l candidate values. one:
    those with a single one.
    """

    attribute: str
    persons: int
    below: int
    one: int

    @property
    def share(self) -> float:
        return self.below / self.persons if self.persons else 0.0


@dataclass(frozen=True)
class EarlierChange:
    """An earlier release, and what has changed since."""

    name: str
    change: Change


def earlier_properties(
    intersected: Sequence[Intersected],
    note: str,
    changes: Sequence[EarlierChange],
    least: int,
    share: float,
    synthetic: bool,
    series: bool,
) -> list[Property]:
    """Return the properties of a release together with earlier ones.

    note: what the intersection leaves out. least: the candidate values that each person must keep.
    share: the largest share of people that an attack may expose. synthetic: whether rows were
    added, which leaves all properties undecided. series: whether the state of a series is at hand;
    if so, ``audit.series`` checks the cohorts.
    """
    worst = max(intersected, key=lambda result: (result.share, result.attribute))
    rows = [
        _intersection(worst, note, least, share),
        _joined(changes, share),
        _left(changes, share),
        _both(changes, share),
    ]
    rows = [replace(row, passed=None) for row in rows] if synthetic else rows
    if series:
        return rows
    bound = "no file tells who shares a class with whom in every release, only a series does"
    return [*rows, Property("cohort_l", None, None, None, f"Bound: {bound}.")]


def _limit(share: float) -> str:
    return f"{figures(share * 100, 100)[0]}% may be" if share else "none may be"


def _intersection(worst: Intersected, note: str, least: int, share: float) -> Property:
    example = (
        f"{worst.attribute}: {worst.below:,} of {many(worst.persons, 'person')}, "
        f"{worst.one:,} with one value; {note}"
    )
    meaning = (
        f"Attack: all releases together leave {worst.below:,} of {many(worst.persons, 'person')} "
        f"fewer than {least} values; {_limit(share)} exposed so."
    )
    passed = is_at_most(share, worst.share)
    return Property("intersection", share, worst.share, passed, meaning, example)


def _share(rows: int, total: int) -> float:
    return rows / total if total else 0.0


def _joined(changes: Sequence[EarlierChange], share: float) -> Property:
    advice = "Let newcomers wait until there are more."
    worst = max(
        changes,
        key=lambda earlier: (_share(earlier.change.joined, earlier.change.after), earlier.name),
    )
    last = worst.change
    return _one_way("joined", "came", (last.joined, last.came, last.after), worst, share, advice)


def _left(changes: Sequence[EarlierChange], share: float) -> Property:
    advice = (
        "Leavers cannot wait: release newcomers only, or make a series, which keeps their rows."
    )
    worst = max(
        changes,
        key=lambda earlier: (_share(earlier.change.left, earlier.change.before), earlier.name),
    )
    last = worst.change
    return _one_way("left", "went", (last.left, last.went, last.before), worst, share, advice)


def _one_way(
    name: str,
    verb: str,
    rows: tuple[int, int, int],
    worst: EarlierChange,
    share: float,
    advice: str,
) -> Property:
    """Return the property of rows that only came, or only left.

    rows: numbers of rows that counts expose, of rows that changed at least, and of all rows.
    """
    exposed, changed, total = rows
    if exposed:
        meaning = (
            f"Attack: counts show too few values of {many(exposed, 'row')} that {verb}, or one too "
            f"often; {_limit(share)} exposed so. {advice}"
        )
    elif changed:
        meaning = f"Attack: counts show enough values of the {many(changed, 'row')} that {verb}."
    else:
        meaning = f"Attack: counts show no row that {verb}."
    exposed_share = _share(exposed, total)
    example = f"since {worst.name}: at least {changed:,} of {many(total, 'row')} {verb}"
    return Property(name, share, exposed_share, is_at_most(share, exposed_share), meaning, example)


def _both(changes: Sequence[EarlierChange], share: float) -> Property:
    def part(earlier: EarlierChange) -> float:
        return _share(earlier.change.both, earlier.change.before + earlier.change.after)

    worst = max(changes, key=lambda earlier: (part(earlier), earlier.name))
    exposed_share, rows = part(worst), worst.change.both
    came, went = worst.change.came, worst.change.went
    if rows:
        meaning = (
            f"Attack: counts would expose {many(rows, 'row')} that came and went in one place if "
            "no others did, which no file tells."
        )
    else:
        meaning = "Attack: counts do not expose anyone if rows both came and went."
    passed = True if is_at_most(share, exposed_share) else None
    example = f"since {worst.name}: at least {came:,} came and {went:,} went"
    return Property("joined_and_left", share, exposed_share, passed, meaning, example)
