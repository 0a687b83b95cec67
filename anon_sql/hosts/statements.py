"""What a release is for, for whom it is anonymous, and when that is looked at again, in words.

A recipe states this in [statement] and [anonymous_for], a manifest in ``statement``. Whether data
are anonymous is judged for a recipient in an environment (CJEU C-413/23 P; ISO/IEC 27559, context
assessment), and not for ever.
"""

import datetime
from collections.abc import Callable, Mapping
from typing import Any

from anon_sql.core.parameters import read_day
from anon_sql.errors import AnonError, Words
from anon_sql.hosts.documents import require_known, require_typed

Spelled = Callable[[str], str | Words]  # the name of an entry in an error
ENVIRONMENTS = ("public", "contract", "secure")  # anybody; bound by contract; a secure room
PLACES = {  # of the recipient, in words
    "public": "anybody may have it",
    "contract": "bound by a contract",
    "secure": "in a secure room",
}
ANONYMOUS_FOR = ("recipient", "environment", "assumptions")  # whom a release is for, in a table
_STATEMENT: dict[str, type | tuple[type, ...]] = {
    "purpose": str,
    "recipient": str,
    "assumptions": list,
    "environment": str,
    "review_by": (datetime.date, str),
    "review": list,
}

BLANK = {  # of a new recipe
    "purpose": "",
    "review_by": "",
    "review": [],
    "recipient": "",
    "environment": "contract",
    "assumptions": [],
}


def with_recipient(function: str, document: dict[str, Any]) -> dict[str, Any]:
    """Return the tables of a recipe with the entries of [anonymous_for] in [statement].

    Raises AnonError for unknown entries, and for one that stands in both.
    """
    statement, entries = document.get("statement", {}), document.pop("anonymous_for", {})
    if not isinstance(entries, dict):
        raise AnonError(function, "[anonymous_for] of the recipe must be a table")
    require_known(function, "[anonymous_for]", entries, ANONYMOUS_FOR)
    if not entries or not isinstance(statement, dict):
        return document
    for name in entries:
        if name in statement:
            raise AnonError(function, f"{name} must stand in [anonymous_for] alone", "two entries")
    return {**document, "statement": {**statement, **entries}}


def statement_of(
    function: str, section: Mapping[str, Any], spelled: Spelled = str
) -> dict[str, Any]:
    """Return [statement] of a recipe, or what stands for it, with the date as ISO text.

    spelled: the name of an entry in an error. Raises AnonError for unknown entries, environments
    and other texts than dates.
    """
    require_typed(function, "[statement]", section, _STATEMENT)
    if section.get("environment", ENVIRONMENTS[0]) not in ENVIRONMENTS:
        choices = f"{', '.join(ENVIRONMENTS[:-1])} or {ENVIRONMENTS[-1]}"
        rule = spelled("environment") + f" must be {choices}"
        raise AnonError(function, rule, f"'{section['environment']}'")
    review_by = day_of(function, section.get("review_by"), spelled)
    others = {name: value for name, value in section.items() if name != "review_by"}
    return others if review_by is None else {**others, "review_by": review_by}


def day_of(
    function: str, review_by: datetime.date | str | None, spelled: Spelled = str
) -> str | None:
    """Return the date of a review as ISO text, None for none. Raises AnonError for another text."""
    if not review_by:
        return None
    return read_day(function, spelled("review_by"), str(review_by)).isoformat()


def require_review_ahead(
    function: str, statement: Mapping[str, Any], spelled: Spelled = str
) -> None:
    """Raise AnonError for a release whose review is due."""
    review_by = statement.get("review_by")
    if review_by and is_due(review_by):
        rule = spelled("review_by") + " must be a date after today"
        hint = "look again at what is to be reviewed, and state the next date"
        raise AnonError(function, rule, "one that has come", hint)


def review_in_words(statement: Mapping[str, Any]) -> str:
    """Return by when a release is looked at again, and what, in words; text of its author."""
    review_by, subjects = statement.get("review_by"), "; ".join(statement.get("review") or ())
    if review_by is None:
        return subjects or "not stated"
    return (f"due since {review_by}" if is_due(review_by) else f"by {review_by}") + (
        f": {subjects}" if subjects else ""
    )


def is_due(review_by: str) -> bool:
    """Return whether the date of a review, ISO text, has come."""
    return datetime.date.fromisoformat(review_by) <= today()


def today() -> datetime.date:
    """Return the date of today, in UTC."""
    return datetime.datetime.now(datetime.UTC).date()
