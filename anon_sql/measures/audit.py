"""``audit``: the properties of a release, in the order in which they are reported."""

from typing import Any

import pyarrow as pa

from anon_sql.arrow import first, lists, one_list, one_struct
from anon_sql.measures import columns, persons, protection, truth
from anon_sql.measures.properties import Property
from anon_sql.measures.release import release
from anon_sql.measures.stems import slots, stems, unmatched
from anon_sql.registry import udf

_ROW = pa.struct(
    [
        ("property", pa.string()),
        ("required", pa.float64()),
        ("found", pa.float64()),
        ("passed", pa.bool_()),
        ("example", pa.string()),
    ]
)
_ROWS = "STRUCT(property VARCHAR, required DOUBLE, found DOUBLE, passed BOOLEAN, example VARCHAR)[]"


@udf(
    "__anon_audit_properties",
    f"STRUCT(before {_ROWS}, after {_ROWS}, persons STRUCT(class BIGINT, persons UBIGINT[])[])",
)
def properties(asked: Any, raw: Any, classes: Any, trees: Any, looks: Any, rising: Any) -> pa.Array:
    """One struct a property, ``before`` l and t and ``after`` them; persons: whose the rows of each
    class are, NULL where nobody asks or can tell.

    raw, classes: what both relations hold; looks, rising: of columns.
    """
    given = release(first(asked), raw, classes)
    readings = given.readings("audit", lists(trees))
    found = slots(*given.hashes(), given.class_of)
    known = stems(found, readings)
    left = None if known is None else unmatched(found, known, given.rows)
    before = [protection.rows(given), protection.anonymity(given, found, known)]
    after = [
        protection.suppressed(given),
        truth.kept(given, found),
        *truth.labels(given, found, known, left),
        truth.spelling(given, readings),
        truth.unique_ends(given, readings),
        *columns.properties(given, first(looks), first(rising)),
    ]
    whose = persons.by_class(given, found, known if left == 0 else None)
    return one_struct(
        {
            "before": _listed(before),
            "after": _listed(after),
            "persons": one_list(whose, persons.BY_CLASS),
        }
    )


@udf("__anon_audit_protection", _ROWS)
def protected(asked: Any, classes: Any, varied: Any, far: Any, told: Any) -> pa.Array:
    """l and t. classes: those that an example may name; varied, far: the least l and the greatest t
    with the classes and columns that have it; told: whether whose the rows are is known."""
    given = release(first(asked), None, classes)
    return _listed(
        [
            protection.diversity(given, first(varied), first(told)),
            protection.closeness(given, first(far), first(told)),
        ]
    )


def _listed(rows: list[Property]) -> pa.Array:
    return pa.array([[row.row() for row in rows]], pa.list_(_ROW))
