"""``audit``: the properties of a release, in the order in which they are reported."""

from typing import Any

import pyarrow as pa

from anon_sql.arrow import first, lists
from anon_sql.measures import columns, protection, truth
from anon_sql.measures.release import release
from anon_sql.measures.stems import slots, stems
from anon_sql.registry import udf


@udf(
    "__anon_audit_properties",
    "STRUCT(property VARCHAR, required DOUBLE, found DOUBLE, passed BOOLEAN, example VARCHAR)[]",
)
def properties(
    asked: Any,
    raw: Any,
    classes: Any,
    trees: Any,
    looks: Any,
    rising: Any,
    varied: Any,
    far: Any,
) -> pa.Array:
    """One struct a property. raw, classes: what both relations hold; looks, rising: of columns;
    varied, far: the least l and the greatest t, with the classes and columns that have it."""
    given = release(first(asked), raw, classes)
    readings = given.readings("audit", lists(trees))
    found = slots(*given.hashes(), given.class_of)
    known = stems(found, readings)
    rows = [
        protection.rows(given),
        protection.anonymity(given, found, known),
        protection.diversity(given, first(varied)),
        protection.closeness(given, first(far)),
        protection.suppressed(given),
        truth.kept(given, found),
        *truth.labels(given, found, known),
        truth.spelling(given, readings),
        truth.unique_ends(given, readings),
        *columns.properties(given, first(looks), first(rising)),
    ]
    return pa.array([[row.row() for row in rows]])
