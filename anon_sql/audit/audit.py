"""``audit``: the properties of a release, each held against its raw table."""

from collections.abc import Mapping

import pyarrow as pa

from anon_sql.audit import class_promises, label_truth, persons
from anon_sql.audit.asked import NAME, Asked
from anon_sql.audit.class_values import class_values
from anon_sql.audit.compared import Compared, Raw, Released, named
from anon_sql.audit.identifying import identifying_combinations
from anon_sql.audit.linking_columns import linking_columns
from anon_sql.audit.properties import ROW
from anon_sql.audit.spelling import require_order, spelling, unique_ends
from anon_sql.audit.stems import slots, stems, unmatched
from anon_sql.audit.telling_columns import telling_columns
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
    shown = Compared(asked, raw, released, columns)
    given = shown.genuine() if asked.counterfeits else shown
    found = slots(*given.hashes(), given.class_of)
    known = stems(found, raw, columns)
    left = None if known is None else unmatched(found, known, given.rows)
    whose = persons.whose(given, found, known if left == 0 else None)
    told = whose is not None or asked.entity is None or not given.shown
    asks = any(each is not None for each in (asked.l, asked.t, asked.beta, asked.delta))
    values = {name: class_values(shown, name, whose) for name in asked.values if asks}
    rows = [
        class_promises.rows(given),
        *class_promises.counterfeits(shown),
        class_promises.anonymity(given, found, known),
        class_promises.diversity(shown, values, told),
        class_promises.closeness(given, values, trees, told),
        *class_promises.of_shares(given, "beta", asked.beta, values, likeness, told),
        *class_promises.of_shares(given, "delta", asked.delta, values, disclosure, told),
        class_promises.suppressed(given),
        label_truth.kept(given, found),
        *label_truth.labels(given, found, known, left),
        spelling(given),
        unique_ends(given),
        *telling_columns(given),
        identifying_combinations(given),
        linking_columns(given),
    ]
    return pa.Table.from_pylist([row.row() for row in rows], pa.schema(list(ROW)))
