"""Say in words whether a release can be signed, and what follows from a property that fails."""

from collections.abc import Iterator, Mapping
from typing import Any

from anon_sql.errors import listed
from anon_sql.privacy import MODELS

CONSEQUENCE = {
    **{model.name: model.broken for model in MODELS},
    "rows": "Rows were lost or added after the release was made.",
    "suppressed rows": "Such a small number of suppressed rows stands out.",
    "kept values": "Values were changed after the release was made, or belong to another table.",
    "labels": "Rows were changed after the release was made, or belong to another table.",
    "raw rows": "Persons from the raw table are missing or described wrongly.",
    "matching": "Values were swapped between rows after the release was made.",
    "spelling": "The file was edited or converted after the release was made.",
    "wider labels": "The labels were widened after the release was made.",
    "unique range ends": "The end of the range is the value of a single person.",
    "added columns": "Nobody has decided whether these columns may be published.",
    "identifiers": "The release names persons. It is not anonymous.",
    "identifying columns": "Such a column works like an identifier.",
    "row numbers": "Whoever has the raw table can look up rows by their number.",
    "identifying combinations": (
        "Whoever knows these values of a person can find the row, whatever k is. Declare the "
        "columns as quasi-identifiers, or leave them out."
    ),
    "pseudonyms": "Releases with the same pseudonyms can be joined.",
}


FAILED, OPEN, HELD = "failed", "open", "held"
HEADINGS = {
    FAILED: "Do not release this as it is",
    OPEN: "No check fails, but a decision is open",
    HELD: "All required properties hold",
}
_PROMISED = tuple(model.name for model in MODELS)  # required of every class
NOT_COVERED = (
    "Other releases of the same persons, which could be compared with this one.",
    "Attackers who know more about a person than the quasi-identifiers, or who know a sensitive "
    "value.",
    "Sensitive values that differ but mean nearly the same, such as two kinds of cancer.",
    "Columns with the role keep, apart from rows that are unique on them: they are not changed.",
    "Whether the roles are right: only you can know what others know about these persons.",
    "Legal questions. The figures are facts about two files, not a certificate.",
)


def verdict(facts: Mapping[str, Any], request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the verdict of a report: ``state``, ``heading``, ``reasons`` and ``not_covered``.

    It is ``failed`` if a check fails or a column was released without a role; ``open`` if a
    protection is missing that a reader could take for granted; else ``held``.
    """
    failed, opened = list(_failed(facts)), list(_open(facts, request))
    state = FAILED if failed else OPEN if opened else HELD
    return {
        "state": state,
        "heading": HEADINGS[state],
        "reasons": [*failed, *opened],
        "not_covered": list(NOT_COVERED),
    }


def _failed(facts: Mapping[str, Any]) -> Iterator[str]:
    unique = facts["kept"]["unique_share"]
    for check in facts["checks"]:
        if check["passed"] is not False:
            continue
        name = check["property"]
        what = f"“{name}” fails: {check['meaning']}"
        if name == "identifying combinations":
            what = f"{_unique_rows(unique)}."
        yield f"{what} {CONSEQUENCE[name]}"
    if facts["kept"]["without_role"]:
        names = facts["kept"]["without_role"]
        many = "1 column" if len(names) == 1 else f"{len(names)} columns"
        yield f"{many} without a role can be read unchanged: {listed(names)}."


def _unique_rows(share: float) -> str:
    return f"{percent(share)} of the rows are unique on the columns kept unchanged"


def _open(facts: Mapping[str, Any], request: Mapping[str, Any]) -> Iterator[str]:
    passed = {check["property"]: check["passed"] for check in facts["checks"]}
    unique = facts["kept"]["unique_share"]
    if unique and passed["identifying combinations"] is not False:
        yield (
            f"{_unique_rows(unique)}, which this release allows. "
            f"{CONSEQUENCE['identifying combinations']}"
        )
    unchanged, changed = facts["columns"]["unchanged"], facts["columns"]["generalized"]
    if len(unchanged) > len(changed):
        yield (
            f"{len(unchanged)} columns are released unchanged, more than the {len(changed)} that "
            "are generalized. k does not protect anybody against those who know these values."
        )
    if request["k"] is None:
        yield "No k was required, so no group size is promised."
    elif request["k"] < 2:
        yield "k is 1, so a person can be alone in a group."
    if not request["sensitive"]:
        yield (
            "No column was named as sensitive, so nothing was checked about what a group "
            "discloses about its members."
        )
    for each in facts["attacks"]:
        if each["homogeneity"]:
            yield (
                f"For {per_thousand(each['homogeneity'])} of 1,000 persons, all rows of the group "
                f"have one {each['column']}: whoever finds the group knows it, without "
                "knowing which row is the person's."
            )
    for check in facts["checks"]:
        undecided = check["passed"] is None and check["required"] is not None
        if undecided and check["property"] in _PROMISED:
            yield f"Whether {check['property']} holds cannot be decided: {check['meaning']}"


def percent(share: float | None) -> str:
    """Return a share in percent; a share above 0 is never shown as 0, nor one below 1 as 100."""
    if share is None:
        return "-"
    if 0 < share < 0.001:
        return "less than 0.1%"
    if 0.999 < share < 1:
        return "more than 99.9%"
    return f"{share * 100:.1f}".removesuffix(".0") + "%"


def per_thousand(share: float | None) -> str:
    """Return persons of 1,000; a share above 0 is never shown as 0, nor one below 1 as 1,000."""
    if share is None:
        return "-"
    if 0 < share < 0.001:
        return "less than 1"
    if 0.999 < share < 1:
        return "more than 999"
    return f"{share * 1000:,.0f}"
