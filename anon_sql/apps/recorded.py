"""Decide what the checks of a manifest say of a release, and the exit code of ``verify``.

A check that fails decides, whether the release recorded it in its manifest or ``verify`` ran it.
What was promised and cannot be told, or was not looked at, is never taken to hold.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import Any

import typer

from anon_sql.apps.cli import console
from anon_sql.apps.manifest import is_required
from anon_sql.audit.columns import DETERMINED, RARE, REVEALING
from anon_sql.audit.compared import OF_PRESENT
from anon_sql.errors import AnonError
from anon_sql.hosts.statements import day_of, is_due, review_in_words
from anon_sql.privacy import MODELS, VALUE_MODELS

OPEN = 3  # exit code: nothing fails, and something could not be checked
# properties of an audit that no release can fail: they are facts for a reader to judge
NOTES = ("wider_labels", "unique_range_ends", "pseudonyms", RARE, DETERMINED, REVEALING)
LEVELS = tuple(model.name for model in MODELS)
_AT_LEAST = ("k", *(model.name for model in VALUE_MODELS if model.at_least))
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Check:
    """One check.

    holds: None if it cannot be decided. finding: in words. of: the property of the audit that it
    decides, if any. looked: whether anything was looked at. promised: whether it counts if it
    cannot be decided.
    """

    what: str
    holds: bool | None
    finding: str = ""
    of: str | None = None
    looked: bool = True
    promised: bool = True

    @property
    def word(self) -> str:
        """Return the state of the check, as a line begins with it."""
        if not self.looked:
            return "not checked"
        if self.holds is not None:
            return "holds" if self.holds else "fails"
        return "unknown" if self.promised else "noted"

    @property
    def open(self) -> bool:
        """Return whether it could not be checked, and should have been."""
        return not self.looked or (self.holds is None and self.promised)


def not_checked(what: str, of: str | None = None) -> Check:
    """Return a check that nothing was looked at for."""
    return Check(what, None, of=of, looked=False)


def of_audit(check: Mapping[str, Any], written: Mapping[str, Any], note: str = "") -> Check:
    """Return the check of a row of ``audit``; note: added to the name of its property."""
    name = str(check["property"])
    counts = promised(check, written)
    return Check(f"audit: {name}{note}", check["passed"], figures(check), name, promised=counts)


def review(statement: Mapping[str, Any]) -> Iterator[Check]:
    """Give a check of the date by which a release is looked at again, if it states one.

    A date that has come is only noted: the file is what its manifest says all the same, and a
    pipeline does not fail overnight.
    """
    review_by = day_of("verify", statement.get("review_by"))
    if review_by is None:
        return
    text = review_in_words(statement)
    yield Check("the review is not due", None if is_due(review_by) else True, text, promised=False)


def figures(check: Mapping[str, Any]) -> str:
    """Return what a row of ``audit`` found, and what it requires, in words."""
    required = "" if check["required"] is None else f", {check['required']:g} required"
    actual = "unknown" if check["found"] is None else f"{check['found']:.4g}"
    return actual + required


def unasked(check: Mapping[str, Any], written: Mapping[str, Any]) -> bool:
    """Return whether nothing was asked of a property, and nothing was found."""
    if check["passed"] is not None or promised(check, written):
        return False
    return check["found"] == 0 or check["property"] in LEVELS


def promised(check: Mapping[str, Any], written: Mapping[str, Any]) -> bool:
    """Return whether a release promises a property that ``audit`` looks at.

    A level that was not asked for is not promised, nor is the absence of identifiers if none was
    named. In a series the properties of its state say what others say of a single release.
    """
    name, parameters = check["property"], written["parameters"]
    if check["required"] is None or name in NOTES:
        return False
    if name in LEVELS or name == "suppressed_rows":
        level = "k" if name == "suppressed_rows" else name
        return is_required(level, parameters[level])
    if name == "identifiers":
        return bool(written["roles"]["identifiers"])
    return not (written["series"].get("cohorts") and name in OF_PRESENT)


def recorded(written: Mapping[str, Any], here: Sequence[Check]) -> Iterator[Check]:
    """Give what the manifest records of the properties that were not decided here.

    What passed there was not checked here, and what failed there fails, whatever was found here.
    """
    decided = {check.of for check in here}
    failed = {check.of for check in here if check.holds is False}
    for check in written["checks"]:
        name = check["property"]
        other = _contradiction(check, written)
        if other:
            yield Check(f"audit: {name}: as recorded", False, other)
        wrong = check["passed"] is False and name not in failed
        if (name in decided and not wrong) or unasked(check, written):
            continue
        if check["passed"]:
            if promised(check, written):
                yield not_checked(f"audit: {name}")
            continue
        yield of_audit(check, written, ", as the manifest records it")
    recorded_names = {check["property"] for check in written["checks"]}
    for name in LEVELS:
        if is_required(name, written["parameters"][name]) and name not in recorded_names | decided:
            yield not_checked(f"audit: {name}")


def _contradiction(check: Mapping[str, Any], written: Mapping[str, Any]) -> str | None:
    """Return how a recorded check contradicts itself or the parameters; None if it does not."""
    name, required, actual = check["property"], check["required"], check["found"]
    stated = written["parameters"][name] if name in LEVELS else None
    if stated is not None and not (required and isclose(required, stated)):
        return f"{required} required, and {name} = {stated:g} among the parameters"
    if not check["passed"] or required is None or actual is None:
        return None
    if name in _AT_LEAST:
        broken = actual < required * (1 - _ROUNDING)
    elif name in LEVELS or required == 0:
        broken = actual > required + _ROUNDING
    else:
        broken = name == "rows" and actual != required
    return f"passed, with {figures(check)}" if broken else None


def say(checks: Sequence[Check], missing: str | None, last: Iterable[str] = ()) -> None:
    """Print checks, and end as they say.

    missing: the option that would check more, None if nothing would help. last: lines below. Raises
    AnonError for checks that fail, and typer.Exit if others could not be checked.
    """
    failed = [check for check in checks if check.holds is False]
    if failed:
        rule = "the release must be what its manifest says"
        raise AnonError("verify", rule, "failed: " + _listed(failed))
    for check in checks:
        note = f" ({check.finding})" if check.finding and check.holds is None else ""
        console.say(f"{check.word:<9}{check.what}{note}" if check.looked else _unlooked(check))
    opened = sum(check.open for check in checks)
    if opened:
        what = "1 property" if opened == 1 else f"{opened} properties"
        hint = f"; pass {missing} to check more" if missing else ""
        console.say(f"no check failed, but {what} could not be checked{hint}")
    for line in last:
        console.say(line)
    if opened:
        raise typer.Exit(OPEN)


def _unlooked(check: Check) -> str:
    return f"{check.word}  {check.what}"


def _listed(failed: Iterable[Check]) -> str:
    return "; ".join(
        f"{check.what} ({check.finding})" if check.finding else check.what for check in failed
    )
