"""``audit``: the properties of a release, each held against its raw table."""

from collections.abc import Mapping

import pyarrow as pa

from anon_sql.audit import class_promises, label_truth, persons
from anon_sql.audit.asked import NAME, Asked
from anon_sql.audit.class_values import class_values
from anon_sql.audit.compared import Compared, Raw, Released, named
from anon_sql.audit.identifying import identifying_combinations
from anon_sql.audit.label_ends import unique_ends, wider_labels
from anon_sql.audit.linking_columns import linking_columns
from anon_sql.audit.properties import ROW
from anon_sql.audit.spelling import require_order, spelling
from anon_sql.audit.telling_columns import telling_columns
from anon_sql.audit.truth import truth
from anon_sql.core.labels.read_coverage import coverage
from anon_sql.measures.beta_likeness import likeness
from anon_sql.measures.delta_disclosure import disclosure


def audit(
    asked: Asked, raw: Raw, released: Released, trees: Mapping[str, pa.StructArray]
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
        class_promises.rows(given),
        class_promises.anonymity(given, true),
        class_promises.diversity(given, values, told),
        class_promises.closeness(given, values, trees, told),
        *class_promises.of_shares(given, "beta", asked.beta, values, likeness, told),
        *class_promises.of_shares(given, "delta", asked.delta, values, disclosure, told),
        class_promises.suppressed(given),
        label_truth.kept(given, true),
        *label_truth.labels(given, true),
        spelling(given),
        wider_labels(given),
        unique_ends(given),
        *released_columns,
    ]
    return pa.Table.from_pylist([row.row() for row in rows], pa.schema(list(ROW)))
