"""What ``audit`` and ``anon_manifest`` take: the requirements of a release, none of which must be.

Each privacy model declares its own parameters; a level of NULL requires nothing.
"""

from dataclasses import dataclass
from typing import Any

from anon_sql.core.common_parameters import unit_of_protection
from anon_sql.core.parameters import (
    Anything,
    Choice,
    Columns,
    Number,
    RelationOf,
    Relations,
    Secret,
    Whole,
    declare,
    param,
)
from anon_sql.core.pseudonyms import KEY
from anon_sql.errors import COMMENTS, Where
from anon_sql.privacy import VALUE_MODELS
from anon_sql.privacy.k_anonymity import KAnonymity
from anon_sql.privacy.model import requirement

NAME = "audit"
PEOPLE = "people"  # the property that a class has k people, and not only their rows
SIZE = requirement(KAnonymity)  # a k of NULL only measures
LEVELS = {model: requirement(model) for model in VALUE_MODELS}


def _role(says: str) -> Any:
    return param(
        None,
        Columns(),
        says,
        null=Where(COMMENTS, "the columns declared in comments on the raw table"),
        bound=True,
    )


@dataclass(frozen=True)
class AuditRoles:
    """The roles of columns in a raw table and its release."""

    quasi: Any = _role("quasi-identifiers, the columns that were generalized")
    sensitive: Any = _role("columns whose values must not be disclosed")
    identifiers: Any = _role("columns that identify a person; the release must not have them")
    keep: Any = _role("columns that were released unchanged")
    exclude: Any = _role("columns that were left out; the release must not have them")


@dataclass(frozen=True)
class Audit:
    """The parameters of ``audit`` beside roles and those of privacy models."""

    hierarchy: Any = param(
        None,
        RelationOf("attribute, value, level and label"),
        "hierarchies that the release was made with",
        null="none",
        relation=True,
    )

    entity: Any = param(
        None,
        Columns(one=True),
        "column that identifies the person; the privacy models then count people. If the release "
        "lacks it, k is the smallest number of people to whom the rows of a class can belong. The "
        "other levels, except distinct l, are then NULL unless each row can belong to one person "
        "only",
        null="none",
    )
    suppressed: str = param(
        "keep",
        Choice(("keep", "drop")),
        "'keep' or 'drop', as in the release; with 'drop', missing rows are not a class",
    )
    synthetic: int = param(
        0,
        Whole(0),
        "number of rows that the method added; properties that do not apply to such a release are "
        "NULL",
    )
    unique_share: float = param(
        0,
        Number(0, 1),
        "largest allowed share of rows that are unique on the kept columns together, 0…1",
    )
    previous: Any = param(
        None,
        Relations(),
        "names of 1 to 11 earlier releases of people in the raw table",
        null="none",
    )
    previous_share: float = param(
        0,
        Number(0, 1),
        "largest allowed share of people that 'intersection' finds, and of rows that 'joined' or "
        "'left' does, 0…1",
    )
    series: Any = param(
        None,
        RelationOf("cohort, person and tuple"),
        "state of the series that the release belongs to, as series_next has made it of the raw "
        "table",
        null="none",
        relation=True,
    )
    key: Any = param(KEY, Secret(), "secret key of the series, as in anon_pseudonym")
    unit: str = unit_of_protection()
    ordered: Any = param(
        None,
        Columns(),
        "columns of type ENUM that the release had as ordered; t then uses the ordered distance",
        null="none",
    )


@dataclass(frozen=True)
class Manifest:
    """The parameters of ``anon_manifest`` beside those of ``audit``."""

    method: Any = param(None, Anything(), "method of the release, recorded as given")
    seed: Any = param(None, Anything(), "seed of the release, recorded as given")
    options: Any = param(
        None,
        Anything(),
        "other parameters of the release, recorded as given; weighted_gcp uses the weights among "
        "them, such as {'weights': MAP {'age': 2}}",
    )
    purpose: Any = param(None, Anything(), "purpose of the release, a text")
    recipient: Any = param(None, Anything(), "recipient of the release, a text")
    assumptions: Any = param(
        None, Anything(), "list of assumptions about what recipients know and may do", null="none"
    )
    environment: Any = param(
        None,
        Anything(),
        "where the recipient has the release: 'public', 'contract' (bound by an agreement) or "
        "'secure' (a secure room)",
        null="not stated",
    )
    review_by: Any = param(
        None, Anything(), "date by which the release is looked at again", null="none"
    )
    review: Any = param(
        None, Anything(), "list of what must be looked at again by then", null="none"
    )


declare(NAME, SIZE, *LEVELS.values(), AuditRoles, Audit)
declare("anon_manifest", Manifest, of=NAME, without=("synthetic",))
