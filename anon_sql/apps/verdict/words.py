"""Say what follows from a property that fails, what lifts it, what no verdict covers, and shares in
words."""

from collections.abc import Mapping
from typing import Any

from anon_sql.audit.columns import DETERMINED, RARE, REVEALING
from anon_sql.audit.parameters import PEOPLE
from anon_sql.privacy import MODELS

CONSEQUENCE = {
    **{model.name: model.broken for model in MODELS},
    "rows": "Rows were lost or added after the release was made.",
    "suppressed_rows": "Such a small number of suppressed rows stands out.",
    "kept_values": "Values were changed after the release was made, or belong to another table.",
    "true_labels": "Rows were changed after the release was made, or belong to another table.",
    "covered_rows": "People from the raw table are missing or described wrongly.",
    "matched_rows": "Values were swapped between rows after the release was made.",
    "label_spelling": "The file was edited or converted after the release was made.",
    "wider_labels": "The labels were widened after the release was made.",
    "unique_range_ends": "The end of the range is the value of a single person.",
    "added_columns": "It is not decided whether these columns may be published.",
    "identifiers": "The release names people, so it is not anonymous for anybody.",
    "identifying_columns": "Such a column works like an identifier.",
    "row_numbers": "An attacker who has the raw table looks up rows by their number.",
    "identifying_combinations": (
        "An attacker who knows these values of a person can find the row, whatever k is."
    ),
    RARE: "An attacker who knows these values of a person is left with few rows.",
    DETERMINED: "An attacker computes these values and is left with few rows of the group.",
    REVEALING: "An attacker who knows these values of a person computes a sensitive one.",
    "series": "Rows were changed after the release was made, or this is not its state.",
    "cohort_l": "The series no longer protects these people.",
    "waiting_rows": "People who wait must not show, because their values are guessed more easily.",
    "former_rows": "Rows were added, or those of an earlier release were left.",
    PEOPLE: "The rows of one person do not hide that person.",
    "pseudonyms": "Releases with the same pseudonyms can be joined.",
}

_AGAIN = "Make the release again with this requirement."
UNCHANGED = "Make the release again, and hand it over unchanged."
REMEDIES = {  # of each property above
    **{model.name: _AGAIN for model in MODELS},
    **dict.fromkeys(
        (
            "rows",
            "kept_values",
            "true_labels",
            "covered_rows",
            "matched_rows",
            "label_spelling",
            "wider_labels",
        ),
        UNCHANGED,
    ),
    **dict.fromkeys(("series", "cohort_l", "former_rows"), UNCHANGED),
    "suppressed_rows": "Choose a smaller k, or leave out suppressed rows (suppressed = 'drop').",
    "unique_range_ends": "Make the release again, and do not narrow its ranges afterwards.",
    "added_columns": "Give each of these columns a role, or leave it out.",
    "identifiers": "Leave the identifiers out.",
    "identifying_columns": "Declare the column as an identifier or quasi-identifier.",
    "row_numbers": "Leave the column out.",
    "identifying_combinations": "Declare the columns as quasi-identifiers, or leave them out.",
    RARE: "Round the columns, declare them as quasi-identifiers, or leave them out.",
    DETERMINED: "Leave the columns out, or declare them as quasi-identifiers.",
    REVEALING: "Declare the columns as sensitive too, or leave them out.",
    "waiting_rows": "Make the release of the series again.",
    PEOPLE: "Name the column that identifies people as entity, or set unit = 'row' with a reason.",
    "pseudonyms": "Use another key for each recipient.",
}

COMPUTED = "Attackers who compute values from the method: the release is not transparent."
KEYED = "Attackers who have the key. Knowing the method does not help: the release is transparent."
SIZED = (
    "Attackers who have the key. To an attacker who knows the method, groups tell one number more: "
    "the size that all of them need."
)
NOT_COVERED = (
    "Attackers who know more than the quasi-identifiers.",
    "Other releases of the same people.",
    COMPUTED,
    "Sensitive values that differ but mean nearly the same, such as two kinds of cancer.",
    "Columns with the role keep, apart from what the rule kept finds: they are not changed.",
    "Whether the roles are right: only you can know what others know about these people.",
    "Legal questions. The figures are facts about two files, not a certificate.",
)


def not_covered(options: Mapping[str, Any]) -> list[str]:
    """Return what a verdict does not cover, of a release that was made with some options."""
    by = options.get("transparent_by", "groups") if options.get("transparent") else None
    sentence = {"groups": KEYED, "size": SIZED}.get(str(by), COMPUTED)
    return [sentence if each == COMPUTED else each for each in NOT_COVERED]


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
    """Return people of 1,000; a share above 0 is never shown as 0, nor one below 1 as 1,000."""
    if share is None:
        return "-"
    if 0 < share < 0.001:
        return "less than 1"
    if 0.999 < share < 1:
        return "more than 999"
    return f"{share * 1000:,.0f}"
