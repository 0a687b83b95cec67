"""Try what lifts the red and amber rules of a verdict, and end each reason with what was tried.

A change lifts a rule if the trial as asked breaks the rule, the trial with the change does not, and
no other rule becomes red by it. A rule that protects people is lifted by more protection only.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import duckdb

from anon_sql.apps.manifest import UNIQUE
from anon_sql.apps.verdict.rules import FLOORS, GREEN, RED, VERDICT, Reason, Verdict
from anon_sql.apps.verdict.trials import OUT, NotCopied, RequestChange, Trial, Trials, trials
from anon_sql.apps.verdict.words import REMEDIES, percent
from anon_sql.audit.columns import RARE
from anon_sql.core import stopping
from anon_sql.core.names import quote
from anon_sql.core.parameters import takes
from anon_sql.core.roles import fold
from anon_sql.hosts.recipes import Recipe
from anon_sql.methods.method import release_methods

ROUNDING = 1e-9
MOST_KEPT = 20  # kept columns that are left out one by one
TS = (0.5, 0.3, 0.2, 0.1)
DISCLOSED = ("certain", "inferred", "lifted", "near", "l_alone")
LOST = ("gcp", "query_error", "columns", "texts", "sets", "suppression", "distribution")


def made_by(
    manifest: Mapping[str, Any] | None, recipe: Recipe | None, request: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Return the method of a release, and all that was asked of it, with its options."""
    method, options = "anonymize", None
    if manifest is not None:
        method, options = manifest["method"] or method, manifest["parameters"]["options"]
    elif recipe is not None:
        method, options = recipe.method, recipe.parameters
    return method, {**(options or {}), **request}


def call_of(
    manifest: Mapping[str, Any] | None, recipe: Recipe | None, request: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Return the method and the call of a release, with its seed; '' without either of the two."""
    if manifest is None and recipe is None:
        return "", {}
    method, call = made_by(manifest, recipe, request)
    return method, call if manifest is None else {**call, "seed": manifest["parameters"]["seed"]}


def remedied(
    con: duckdb.DuckDBPyConnection,
    method: str,
    request: Mapping[str, Any],
    judgment: Verdict,
    judging: Mapping[str, Any],
    step: Callable[[str], None] = lambda note: None,
) -> Verdict:
    """Return a verdict on the release of ``raw`` whose reasons end with what was tried.

    method: that made it. request: what was asked of it, with its options. judging: what ``verdict``
    took besides. step: is told what is tried next. Accepted reasons, and those that no trial
    decides, stay as they are; so do all of a release of a series.
    """
    if judgment.level == GREEN or not request["quasi"] or request.get("series"):
        return judgment
    if method not in release_methods():
        return judgment
    texts = {}
    open_ = [each for each in judgment.reasons if not each.accepted]
    for each in open_:
        if _is_of_kept(each):
            step("trying what lifts unique rows")
            texts[id(each)] = _without_kept(con, request, each)
    wanted = [each for each in open_ if _is_tried(each)]
    if wanted:
        queried = any(each.rule == "query_error" for each in wanted)
        with suppress(NotCopied), trials(con, method, request, judging, queried=queried) as few:
            sentences = remedies(few, wanted, step)
            texts |= {id(each): text for each, text in zip(wanted, sentences, strict=True)}
    reasons = [replace(each, remedy=texts.get(id(each), each.remedy)) for each in judgment.reasons]
    return replace(judgment, reasons=reasons)


def can_try(judgment: Verdict) -> bool:
    """Return whether trials may say what lifts a reason of a verdict."""
    return any(
        (_is_tried(each) or _is_of_kept(each)) and not each.accepted for each in judgment.reasons
    )


def _is_of_kept(reason: Reason) -> bool:
    """Return whether a reason is that too few rows have the same values of the kept columns."""
    return reason.remedy == REMEDIES["identifying_combinations"] or RARE in reason.sql


def _without_kept(
    con: duckdb.DuckDBPyConnection, request: Mapping[str, Any], reason: Reason
) -> str:
    """Say which kept column stands out, by a count of ``released`` without each of them.

    The remedy stays as it is if the reason counts people.
    """
    fewest, what = 2, "are then unique"
    allowed = (request.get(UNIQUE) or 0) if reason.level == RED else 0
    if RARE in reason.sql:
        fewest, what = request.get("k") or 2, "then have values that fewer than k rows have"
        limit = VERDICT["rare"]
        allowed = (limit.red if reason.level == RED else limit.amber) or 0
    others = {fold(name) for role in ("quasi", "sensitive") for name in request[role]}
    kept = [name for name in con.table("released").columns if fold(name) not in others]
    if not 1 < len(kept) <= MOST_KEPT:
        return reason.remedy

    def share(names: Sequence[str]) -> float:
        stopping.check()
        by = ", ".join(map(quote, names))
        few = f"SELECT count(*) AS n FROM released GROUP BY {by} HAVING count(*) < {fewest:d}"
        total = "greatest((SELECT count(*) FROM released), 1)"
        ((fraction,),) = con.execute(
            f"SELECT coalesce(sum(n), 0) / {total} FROM ({few})"
        ).fetchall()
        return float(fraction)

    if reason.found is None or abs(share(kept) - reason.found) > ROUNDING:
        return reason.remedy
    left, name = min((share([each for each in kept if each != name]), name) for name in kept)
    if left <= allowed and left < reason.found:
        return f"Leaving out {name} lifts it: {percent(left)} of the rows {what}."
    return (
        f"Leaving out one of them does not lift it: {percent(left)} of the rows {what} without "
        f"{name}, which stands in the way most."
    )


def first(tried: Trials) -> tuple[float | None, Verdict | None]:
    """Return the largest t of ``TS`` whose trial is not red, at most the one that is asked for, and
    its verdict, whose red reasons end with what was tried.

    If it can be, no figure of what groups disclose is near red either. t is the one asked for where
    none helps. The verdict is None if there is no release.
    """
    before = tried.trial(None)
    if before is None:
        return tried.request.get("t"), None
    requested_t = tried.request.get("t")
    changed = [
        RequestChange("t", each) for each in TS if requested_t is not None and each < requested_t
    ]
    best: RequestChange | None = None
    if not _is_safe(before):
        fine = [each for each in (None, *changed) if _is_fine(tried.trial(each))]
        best = next((each for each in fine if _is_safe(tried.trial(each))), (fine or [None])[0])
    if best is not None:
        again = {**tried.request, "t": best.value}
        tried = replace(tried, request=again, made={None: tried.made[best]})
    trial = tried.trial(None)
    assert trial is not None  # it was just made
    wanted = [each for each in trial.verdict.reasons if _is_tried(each) and each.level == RED]
    texts = remedies(tried, wanted)
    explained = [replace(each, remedy=text) for each, text in zip(wanted, texts, strict=True)]
    others = [each for each in trial.verdict.reasons if each not in wanted]
    return tried.request.get("t"), replace(trial.verdict, reasons=[*explained, *others])


def _is_fine(trial: Trial | None) -> bool:
    return trial is not None and trial.verdict.level != RED


def _is_safe(trial: Trial | None) -> bool:
    """Return whether no figure of what groups disclose reaches half of its red limit.

    Rows that were not released may have more.
    """
    if trial is None:
        return False
    limits = {name: VERDICT[name].red for name in DISCLOSED if name in VERDICT}
    return not any(
        (red := limits.get(each.name)) is not None and (each.value or 0.0) >= red / 2
        for each in trial.measured.figures
    )


def _is_tried(reason: Reason) -> bool:
    return reason.rule in (*DISCLOSED, *LOST) or _of_k(reason)


def _of_k(reason: Reason) -> bool:
    """Return whether a reason is that k is less than usual."""
    return reason.rule == "choice" and reason.found is not None


def remedies(
    tried: Trials, wanted: Sequence[Reason], step: Callable[[str], None] = lambda note: None
) -> list[str]:
    """Return what lifts each reason, or which column stands in the way.

    At most ``MOST_CHANGES`` changes are tried.
    """
    before = tried.trial(None)
    if before is None:
        return [each.remedy for each in wanted]
    left = {index: list(changes(each, tried)) for index, each in enumerate(wanted)}
    looked: dict[int, list[RequestChange]] = {index: [] for index in left}
    sentences: dict[int, str] = {}
    while left:  # the first change of each reason, then the second
        for index, queue in list(left.items()):
            reason = wanted[index]
            change = next((c for c in queue if c in tried.made or not tried.spent), None)
            if change is None:
                del left[index]
                continue
            queue[: queue.index(change) + 1] = []
            stopping.check()
            step(f"trying what lifts {reason.rule}")
            looked[index].append(change)
            after = tried.trial(change)
            if after is not None and _helps(reason, before, after):
                sentences[index] = _lifting(tried, reason, change, before, after)
                del left[index]
    return [
        sentences.get(index) or _failing(tried, reason, looked[index], before)
        for index, reason in enumerate(wanted)
    ]


def _helps(reason: Reason, before: Trial, after: Trial) -> bool:
    """Return whether a change lifts a reason, or halves a figure that few rows do not break."""
    if after.breaks(reason) or after.reddens(before):
        return False
    if before.breaks(reason):
        return True
    was, now = before.figure(reason), after.figure(reason)
    return was is not None and (now or 0.0) < was / 2


def _lifting(
    tried: Trials, reason: Reason, change: RequestChange, before: Trial, after: Trial
) -> str:
    """Say that a change lifts a reason, and what it costs."""
    sentence = _begun(change.words(tried.request))
    was, now = before.figure(reason), after.figure(reason)
    figure = f"{percent(now or 0.0)} instead of {percent(was)}"
    lost = ""
    if reason.rule != "gcp" and before.lost is not None and after.lost is not None:
        lost = f", loss {percent(after.lost)} instead of {percent(before.lost)}"
    if before.breaks(reason):
        has_figure = was is not None and not _of_k(reason)
        sentence += f" lifts it{f': {figure}' if has_figure else ''}{lost}, tried on {tried.where}."
    else:
        sentence += f" lowers it: {figure}{lost}, in {tried.where}, which do not break the rule."
    if _protects_less(change, tried.request):
        less = "smaller k" if change.name == "k" else "larger t"
        sentence += f" A {less} protects less, so that is your decision."
    return sentence


def _failing(tried: Trials, reason: Reason, looked: Sequence[RequestChange], before: Trial) -> str:
    """Say what was tried in vain, and which column stands in the way."""
    if not before.breaks(reason):
        return reason.remedy
    column = reason.column or _widest(tried, reason, looked)
    if not looked:
        only = column is not None and not list(changes(reason, tried))
        return f"{reason.remedy} {column} stands in the way." if only else reason.remedy
    way = f" {column} stands in the way." if column else ""
    for each in looked:
        after = tried.trial(each)
        if after is not None and not after.breaks(reason):
            red = next(other.rule for other in after.verdict.reasons if other.level == RED)
            but = f"lifts it, but then {red} is red, tried on {tried.where}."
            return f"{_begun(each.words(tried.request))} {but}{way}"
    words = ", ".join(each.words({}) for each in looked)
    what = f"{words} does not lift it" if len(looked) == 1 else f"None of these lifts it: {words}"
    return f"{_begun(what)}, tried on {tried.where}.{way}"


def _begun(words: str) -> str:
    """Return words as a sentence begins; the name of a parameter stays as it is."""
    return words[0].upper() + words[1:] if words.split(" ")[1] != "=" else words


def _widest(tried: Trials, reason: Reason, looked: Sequence[RequestChange]) -> str | None:
    """Return the column without which a figure is smallest; one with the greatest loss first."""
    pairs = [(each, tried.trial(each)) for each in looked if each.name == OUT]
    figures = [(t.figure(reason) or 0.0, str(each.value)) for each, t in pairs if t is not None]
    if figures:
        return min(figures, key=lambda pair: pair[0])[1]
    names = tried.by_loss
    return names[0] if names else None


def _protects_less(change: RequestChange, request: Mapping[str, Any]) -> bool:
    before = request.get(change.name)
    if change.name == "k":
        return before is not None and change.value < before
    return change.name == "t" and before is not None and change.value > before


def changes(reason: Reason, tried: Trials) -> Iterator[RequestChange]:
    """Give the changes that could lift a reason, the smallest first."""
    request, parameters = tried.request, takes(tried.method)
    level, t, k = request.get("l") or 1, request.get("t"), request.get("k") or 1
    floor = FLOORS[tried.judging.get("environment", "contract")]
    if _of_k(reason):
        yield RequestChange("k", floor)
        return
    if reason.rule in DISCLOSED:
        if reason.rule == "certain" and level < 2 and "l" in parameters:
            yield RequestChange("l", 2)
        if "t" in parameters:
            yield from (RequestChange("t", each) for each in TS if t is None or each < t)
        yield RequestChange("k", 2 * k)
        return
    if reason.rule == "suppression" and "suppression_limit" in parameters:
        limit = request.get("suppression_limit") or 0
        yield from (
            RequestChange("suppression_limit", each) for each in (0.05, 0.01) if each < limit
        )
    if reason.rule == "distribution" and request.get("suppressed") == "drop":
        yield RequestChange("suppressed", "keep")
    names = [reason.column] if reason.rule in ("sets", "texts") else tried.by_loss
    first, *others = names or [None]
    if len(request["quasi"]) > 1 and first is not None:
        yield RequestChange(OUT, first)
    if floor <= k // 2 < k:
        yield RequestChange("k", k // 2)
    elif floor < k:
        yield RequestChange("k", floor)
    larger = [each for each in reversed(TS) if t is not None and t < each]
    if larger:
        yield RequestChange("t", larger[0])
    if len(request["quasi"]) > 2:
        yield from (RequestChange(OUT, name) for name in others[:2] if name is not None)
