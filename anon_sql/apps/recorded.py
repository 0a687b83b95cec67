"""Check what the manifests of one table and of linked ones share, and decide the exit code.

A check that fails decides, whether the release recorded it in its manifest or ``verify`` ran it.
What was promised and cannot be told, or was not looked at, is never taken to hold.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from pathlib import Path
from typing import Any

import typer

from anon_sql.apps.cli import console
from anon_sql.apps.manifest import is_linked, is_required
from anon_sql.audit.columns import DETERMINED, RARE, REVEALING
from anon_sql.audit.compared import OF_PRESENT
from anon_sql.errors import AnonError
from anon_sql.hosts.files import digest
from anon_sql.hosts.statements import day_of, is_due, review_in_words
from anon_sql.privacy import MODELS, VALUE_MODELS

OPEN = 3  # exit code: nothing fails, and something could not be checked
# properties of an audit that no release can fail: they are facts for a reader to judge
NOTES = ("wider_labels", "unique_range_ends", "pseudonyms", RARE, DETERMINED, REVEALING)
LEVELS = tuple(model.name for model in MODELS)
_AT_LEAST = ("k", *(model.name for model in VALUE_MODELS if model.at_least))
_LINKED_AT_LEAST = ("k", "l of ", "unlinked_labels of ", "unlinked_people of ")
_ROUNDING = 1e-9
_SHOWN = 5  # paths in a sentence


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


def of_recipe(written: Mapping[str, Any], sha256: str) -> Check:
    """Check that a recipe is the one that a release was made by."""
    stated = (written.get("recipe") or {}).get("sha256")
    return Check("the recipe is the one that was used", stated == sha256, "another SHA-256")


def of_output(written: Mapping[str, Any], path: Path) -> Iterator[Check]:
    """Check that the output is, byte by byte, the one that the manifest was written for.

    A folder must hold the regular files that the manifest names, and nothing else.
    """
    if path.is_dir():
        others = _unnamed(written, path)
        yield Check("the folder holds nothing else", not others, _first_paths(others))
        if others:
            return
    wrong = _changed(written["output"], path)
    what = "the files are those that were" if path.is_dir() else "the file is the one that was"
    yield Check(f"{what} written", not wrong, wrong)


def _changed(output: Mapping[str, Any], path: Path) -> str:
    """Return how the output differs from what a manifest says of it; '' if it does not."""
    if "sha256" in output:
        return "" if digest(path) == output["sha256"] else "another SHA-256"
    gone = [name for name in output["files"] if not (path / name).is_file()]
    there = {name: sha256 for name, sha256 in output["files"].items() if name not in gone}
    changed = [name for name, sha256 in there.items() if digest(path / name) != sha256]
    faults = [f"no {', '.join(gone)}"] if gone else []
    faults += [f"another SHA-256 of {', '.join(changed)}"] if changed else []
    return "; ".join(faults)


def _entries(folder: Path) -> dict[str, bool]:
    """Return the path of each entry below a folder, and whether it is a regular file.

    Links are entries, and nothing behind them is looked at. A folder's path ends in '/'. Raises
    OSError for a folder that cannot be read.
    """
    is_regular: dict[str, bool] = {}
    left = [""]
    while left:
        within = left.pop()
        with os.scandir(folder / within) as listed:
            for entry in listed:
                path = within + entry.name
                if entry.is_dir(follow_symlinks=False):
                    left.append(f"{path}/")
                    is_regular[f"{path}/"] = False
                else:
                    is_regular[path] = entry.is_file(follow_symlinks=False)
    return is_regular


def _unnamed(written: Mapping[str, Any], folder: Path) -> list[str]:
    """Return the paths in a folder that are no regular files which a manifest names.

    Manifests of earlier versions name none: theirs are the Parquet files at the top.
    """
    is_regular = _entries(folder)
    named = written["output"].get("files")
    if named is None:
        named = [path for path in is_regular if "/" not in path and path.endswith(".parquet")]
    return sorted(path for path, regular in is_regular.items() if not (regular and path in named))


def _first_paths(paths: list[str]) -> str:
    """Return the first few of some paths, and the number of the others."""
    first = ", ".join(paths[:_SHOWN])
    others = len(paths) - _SHOWN
    return first if others <= 0 else f"{first} and {others:,} more"


def as_written(name: str, now: Any, stated: Any) -> Check:
    """Check that a part of a manifest is what was counted now; name: of the part."""
    if is_equal(now, stated):
        return Check(f"{name}: as written", True)
    differing = []
    if isinstance(now, dict):
        names = dict.fromkeys([*now, *stated])
        differing = [n for n in names if not is_equal(now.get(n), stated.get(n))]
    return Check(f"{name}: as written", False, ", ".join(differing) or "other values")


def is_equal(one: Any, other: Any) -> bool:
    """Return whether two values are equal up to the rounding of sums in another order."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_equal, one, other))
    if isinstance(one, float) and isinstance(other, (int, float)):
        return isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return bool(one == other)


def of_audit(check: Mapping[str, Any], written: Mapping[str, Any], note: str = "") -> Check:
    """Return the check of a row of ``audit``; note: added to the name of its property."""
    name = str(check["property"])
    counts = promised(check, written)
    text = linked_figures(check) if is_linked(written) else figures(check)
    return Check(f"audit: {name}{note}", check["passed"], text, name, promised=counts)


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


def linked_figures(check: Mapping[str, Any]) -> str:
    """Return what a row of the audit of linked tables found, and what it requires, in words."""
    name, required = check["property"], check["required"]
    actual = "unknown" if check["found"] is None else f"{check['found']:,g}"
    if required is None:
        limit = ""
    elif name.startswith(_LINKED_AT_LEAST):
        limit = f", at least {required:,g} required"
    elif name.startswith("rows of "):
        limit = f", at most {required:,g} in the raw table"
    else:
        limit = f", {required:,g} required" if required else ", none allowed"
    example = check.get("example")
    return actual + limit + (f", {example}" if example else "")


def unasked(check: Mapping[str, Any], written: Mapping[str, Any]) -> bool:
    """Return whether nothing was asked of a property, and nothing was found."""
    if check["passed"] is not None or promised(check, written) or is_linked(written):
        return False
    return check["found"] == 0 or check["property"] in LEVELS


def promised(check: Mapping[str, Any], written: Mapping[str, Any]) -> bool:
    """Return whether a release promises a property that ``audit`` looks at.

    A level that was not asked for is not promised, nor is the absence of identifiers if none was
    named. In a series the properties of its state say what others say of a single release. Linked
    tables promise whatever their audit requires.
    """
    name, parameters = check["property"], written["parameters"]
    if check["required"] is None or name in NOTES:
        return False
    if is_linked(written):
        return True
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
    if "checks" not in written:
        yield not_checked("what was required of the release: its manifest records no checks")
        return
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
    for name in () if is_linked(written) else LEVELS:
        if is_required(name, written["parameters"][name]) and name not in recorded_names | decided:
            yield not_checked(f"audit: {name}")


def _contradiction(check: Mapping[str, Any], written: Mapping[str, Any]) -> str | None:
    """Return how a recorded check contradicts itself or the parameters; None if it does not."""
    name, required, actual = check["property"], check["required"], check["found"]
    stated = written["parameters"].get(name) if name in LEVELS else None
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
