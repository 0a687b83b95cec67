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
    column_properties,
    named,
)
from anon_sql.audit.labels import require_order, spelling, unique_ends, wider_labels
from anon_sql.audit.parameters import NAME
from anon_sql.audit.rows import truth
from anon_sql.core.labels.reading import coverage
from anon_sql.privacy import VALUE_MODELS


def audit(
    request: AuditRequest, raw: Raw, released: ReleasedTable, trees: Mapping[str, pa.StructArray]
) -> pa.Table:
    """Return a row of ``properties.ROW`` for each property; trees: rows of hierarchies by column.

    Raises AnonError for values that no label stands for, and for relations in the wrong order.
    """
    columns = {}
    for name, kind in request.types.items():
        labels = named(released.labels, name)
        columns[name] = coverage(NAME, name, kind, raw.values[name], labels, trees.get(name))
        require_order(name, columns[name])
    compared = Compared(request, raw, released, columns)
    released_columns = [
        *column_properties(compared),
        identifying_combinations(compared),
        linking_columns(compared),
    ]
    true = truth(compared)
    whose = persons.whose(compared, true.whose)
    owners_known = whose is not None or request.entity is None or not compared.released_rows
    named_values = request.values if request.models else ()
    values = {name: sensitive_values(compared, name, whose) for name in named_values}
    rows = [
        classes.rows(compared),
        classes.anonymity(compared, true),
        *_levels(compared, values, trees, owners_known),
        classes.suppressed(compared),
        label_truth.kept(compared, true),
        *label_truth.labels(compared, true),
        spelling(compared),
        wider_labels(compared),
        unique_ends(compared),
        *released_columns,
    ]
    return pa.Table.from_pylist([row.row() for row in rows], pa.schema(list(ROW)))


def _levels(
    compared: Compared,
    values: Mapping[str, SensitiveValues],
    trees: Mapping[str, pa.StructArray],
    owners_known: bool,
) -> Iterator[Property]:
    """Give the rows of the privacy models in their order; owners_known: as in
    ``classes.of_values``."""
    measured = {type(model): model for model in compared.request.models}
    for known in VALUE_MODELS:
        if known in measured:
            yield classes.of_values(compared, measured[known], values, trees, owners_known)
        elif known.measured:
            yield classes.unmeasured(
                known.name, None, f"No {known.name} was given, so it was not measured."
            )
