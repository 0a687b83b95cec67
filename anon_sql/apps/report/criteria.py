"""Say what a report says of isolation, linkage and inference: a sentence each, and the figures.

The sentence has the figure, that of the control, the interval of the gain, the limit and its
source.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from anon_sql.apps.verdict.rules import VERDICT, Limit
from anon_sql.apps.verdict.words import percent
from anon_sql.attacks.criteria import INFERENCE, ISOLATION, LINKAGE

_FIGURES = {
    ISOLATION: "{rate} of the conditions that an attacker writes from the release match exactly "
    "one person of the table",
    LINKAGE: "An attacker with two sources of the same people links {rate} of their records by the "
    "release",
    INFERENCE: "An attacker who knows the quasi-identifiers guesses {attack} right for {rate} of "
    "the people",
}
_MISSING = {
    ISOLATION: "the release has no rows",
    LINKAGE: "two sources need two quasi-identifiers, and a release with rows",
    INFERENCE: "no column was named as sensitive, or the release has no rows",
}
_OF_SERIES = "the release has rows of people who are no longer in the table"
_SHOWN = ("attack", "attempts", "successes", "rate", "control_rate", "naive_rate", "gain")


def sections(
    gains: Sequence[Mapping[str, Any]],
    control: Mapping[str, Any] | None,
    limits: Mapping[str, Limit] = VERDICT,
    *,
    of_series: bool = False,
) -> dict[str, Any]:
    """Return the ``control``, and by criterion the ``sentence`` and the ``rows``.

    gains: as ``gains_of`` returns them. control: name, rows and SHA-256 of the file; None without
    one. limits: of the verdict. of_series: whether the release is one of a series.
    """
    by_criterion: dict[str, Any] = {"control": control}
    for criterion in _FIGURES:
        rows = [
            {**{name: row[name] for name in (*_SHOWN, "low", "high")}, "sql": row["sql"]}
            for row in gains
            if row["criterion"] == criterion
        ]
        measured = [row for row in rows if row["rate"] is not None]
        worst = max(measured, key=_badness, default=None)
        why = _OF_SERIES if of_series else _MISSING[criterion]
        by_criterion[criterion] = {
            "sentence": f"Not measured: {why}."
            if worst is None
            else sentence(criterion, worst, limits),
            "rows": rows,
        }
    return by_criterion


def _badness(row: Mapping[str, Any]) -> tuple[float, float]:
    """Return what orders attacks: the lower end of the gain, or without a control the rate beyond
    that without the release."""
    return (row["rate"] - row["naive_rate"] if row["gain"] is None else row["low"]), row["rate"]


def sentence(criterion: str, row: Mapping[str, Any], limits: Mapping[str, Limit] = VERDICT) -> str:
    """Return what an attack found, in words. row: of ``sections``, with a rate."""
    figure = _FIGURES[criterion].format(attack=row["attack"], rate=percent(row["rate"]))
    if row["gain"] is None:
        return (
            f"{figure} (95% interval {percent(row['low'])} to {percent(row['high'])}), and "
            f"{percent(row['naive_rate'])} without the release. No control was given, so no limit "
            "applies: the population may tell it anyway."
        )
    limit = limits[criterion]
    source = limit.source if limit == VERDICT[criterion] else "the recipe"
    reached = limit.level(row["low"]) or "not reached"
    return (
        f"{figure}, and {percent(row['control_rate'])} for the control: gain {signed(row['gain'])} "
        f"(95% interval {signed(row['low'])} to {signed(row['high'])}). Limits of its lower end: "
        f"amber {percent(limit.amber)}, red {percent(limit.red)} ({source}): {reached}."
    )


def signed(share: float | None) -> str:
    """Return a gain in percent, which is below 0 by chance."""
    return f"-{percent(-share)}" if share is not None and share < 0 else percent(share)
