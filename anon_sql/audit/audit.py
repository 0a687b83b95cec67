"""``audit``: compare each property of a release with its raw table."""

from collections.abc import Iterator, Mapping

import pyarrow as pa

from anon_sql.audit import classes, persons
from anon_sql.audit import labels as label_truth
from anon_sql.audit.classes import SensitiveValues, sensitive_values
from anon_sql.audit.columns import (
    beside_classes,
    identifying_combinations,
    linking_columns,
)
from anon_sql.audit.compared import (
    ROW,
    AuditRequest,
    Compared,
    Property,
    Raw,
    ReleasedTable,
    column_properties,
    in_series,
    named,
)
from anon_sql.audit.labels import require_order, spelling, unique_ends, wider_labels
from anon_sql.audit.parameters import NAME
from anon_sql.audit.rows import truth
from anon_sql.core.labels.as_printed import as_printed, values_by_name
from anon_sql.core.labels.reading import coverage
from anon_sql.core.running import Progress, Workers
from anon_sql.privacy import VALUE_MODELS


def audit(
    request: AuditRequest,
    raw: Raw,
    released: ReleasedTable,
    trees: Mapping[str, pa.StructArray],
    threads: int,
) -> pa.Table:
    """Return one row of ``compared.ROW`` per property.

    trees: rows of hierarchies by column. threads: number of threads that compare rows.

    Raises AnonError for values that no label covers, and for relations in the wrong order.
    """
    with Progress(NAME, len(request.types) + _STEPS) as progress:
        columns = {}
        labels = as_printed(
            {name: named(released.labels, name) for name in request.types},
            values_by_name(raw.values, trees, raw.often),
            released.sizes,
        )
        for name, kind in request.types.items():
            progress.note = f"reads the labels of {name}"
            shown = labels[name]
            columns[name] = coverage(NAME, name, kind, raw.values[name], shown, trees.get(name))
            require_order(name, columns[name])
            progress.advance(1)
        compared = Compared(request, raw, released, columns)
        rows = _properties(compared, trees, Workers(NAME, threads), progress)
    return pa.Table.from_pylist([row.row() for row in rows], pa.schema(list(ROW)))


_STEPS = 4


def _properties(
    compared: Compared,
    trees: Mapping[str, pa.StructArray],
    workers: Workers,
    progress: Progress,
) -> list[Property]:
    """Return the properties in the order of the rows of ``audit``; progress: advances by
    ``_STEPS``."""

    def step(note: str) -> None:
        progress.note = note
        progress.advance(1)

    request = compared.request
    progress.show("compares columns")
    identifiers = classes.identifiers(compared)
    released_columns = [
        *column_properties(compared),
        identifying_combinations(compared),
        linking_columns(compared),
        *beside_classes(compared, identifiers),
    ]
    step("compares rows")
    true = truth(compared, workers)
    step("counts values")
    whose = persons.owners(compared, true.owners)
    owners_known = whose is not None or request.entity is None or not compared.released_rows
    named_values = request.values if request.models else ()
    values = {name: sensitive_values(compared, name, whose) for name in named_values}
    step("measures classes")
    rows = [
        classes.rows(compared),
        classes.anonymity(compared, true),
        classes.people(compared, identifiers, workers),
        *_levels(compared, values, trees, owners_known),
        classes.suppressed(compared),
        label_truth.kept(compared, true),
        *label_truth.labels(compared, true),
        spelling(compared),
        wider_labels(compared),
        unique_ends(compared),
        *released_columns,
    ]
    step("measures classes")
    return [in_series(row) for row in rows] if request.series else rows


def _levels(
    compared: Compared,
    values: Mapping[str, SensitiveValues],
    trees: Mapping[str, pa.StructArray],
    owners_known: bool,
) -> Iterator[Property]:
    """Yield the properties of the privacy models in their order; owners_known: as in
    ``classes.of_values``."""
    measured = {type(model): model for model in compared.request.models}
    for model_type in VALUE_MODELS:
        if model_type in measured:
            yield classes.of_values(compared, measured[model_type], values, trees, owners_known)
        elif model_type.measured:
            yield classes.unmeasured(
                model_type.name, None, f"No {model_type.name} was given, so it was not measured."
            )
