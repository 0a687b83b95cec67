"""``audit``: the properties of a release, each held against its raw table."""

from collections.abc import Iterator, Mapping

import pyarrow as pa

from anon_sql.audit import classes, persons
from anon_sql.audit import labels as label_truth
from anon_sql.audit.classes import SensitiveValues, sensitive_values
from anon_sql.audit.columns import identifying_combinations, linking_columns
from anon_sql.audit.compared import (
    ROW,
    AuditRequest,
    Compared,
    Property,
    Raw,
    ReleasedTable,
    named,
    telling_columns,
)
from anon_sql.audit.labels import require_order, spelling, unique_ends, wider_labels
from anon_sql.audit.parameters import NAME
from anon_sql.audit.rows import truth
from anon_sql.core.labels.reading import coverage
from anon_sql.privacy import VALUE_MODELS


def audit(
    asked: AuditRequest, raw: Raw, released: ReleasedTable, trees: Mapping[str, pa.StructArray]
) -> pa.Table:
    """Return a row of ``properties.ROW`` for each property; trees: rows of hierarchies by column.

    Raises AnonError for values that no label stands for, and for relations in the wrong order.
    """
    columns = {}
    for name, kind in asked.types.items():
        labels = named(released.labels, name)
        columns[name] = coverage(NAME, name, kind, raw.values[name], labels, trees.get(name))
        require_order(name, columns[name])
    given = Compared(asked, raw, released, columns)
    released_columns = [
        *telling_columns(given),
        identifying_combinations(given),
        linking_columns(given),
    ]
    true = truth(given)
    whose = persons.whose(given, true.whose)
    told = whose is not None or asked.entity is None or not given.shown
    named_values = asked.values if asked.models else ()
    values = {name: sensitive_values(given, name, whose) for name in named_values}
    rows = [
        classes.rows(given),
        classes.anonymity(given, true),
        *_levels(given, values, trees, told),
        classes.suppressed(given),
        label_truth.kept(given, true),
        *label_truth.labels(given, true),
        spelling(given),
        wider_labels(given),
        unique_ends(given),
        *released_columns,
    ]
    return pa.Table.from_pylist([row.row() for row in rows], pa.schema(list(ROW)))


def _levels(
    given: Compared,
    values: Mapping[str, SensitiveValues],
    trees: Mapping[str, pa.StructArray],
    told: bool,
) -> Iterator[Property]:
    """Give the rows of the privacy models in their order; told: as in ``classes.of_values``."""
    measured = {type(model): model for model in given.asked.models}
    for known in VALUE_MODELS:
        if known in measured:
            yield classes.of_values(given, measured[known], values, trees, told)
        elif known.measured:
            yield Property(known.name, None, None, None, None)
