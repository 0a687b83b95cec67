"""``audit``: the properties of a release, each held against its raw table."""

from collections.abc import Mapping

import pyarrow as pa

from anon_sql.audit import classes, persons
from anon_sql.audit import labels as label_truth
from anon_sql.audit.classes import class_values
from anon_sql.audit.columns import identifying_combinations, linking_columns
from anon_sql.audit.compared import (
    NAME,
    ROW,
    AuditRequest,
    Compared,
    Raw,
    ReleasedTable,
    named,
    telling_columns,
)
from anon_sql.audit.labels import require_order, spelling, unique_ends, wider_labels
from anon_sql.audit.rows import truth
from anon_sql.core.labels.reading import coverage
from anon_sql.privacy.beta_likeness import likeness
from anon_sql.privacy.delta_disclosure import disclosure


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
    asks = any(each is not None for each in (asked.l, asked.t, asked.beta, asked.delta))
    values = {name: class_values(given, name, whose) for name in asked.values if asks}
    rows = [
        classes.rows(given),
        classes.anonymity(given, true),
        classes.diversity(given, values, told),
        classes.closeness(given, values, trees, told),
        *classes.of_shares(given, "beta", asked.beta, values, likeness, told),
        *classes.of_shares(given, "delta", asked.delta, values, disclosure, told),
        classes.suppressed(given),
        label_truth.kept(given, true),
        *label_truth.labels(given, true),
        spelling(given),
        wider_labels(given),
        unique_ends(given),
        *released_columns,
    ]
    return pa.Table.from_pylist([row.row() for row in rows], pa.schema(list(ROW)))
