"""The attacks as SQL calls them: the classes of a release and people in, a row per column out."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.attacks.attacks import (
    EXPOSURE,
    GUESSED,
    LINKED,
    Skewness,
    background,
    exposure,
    linking,
)
from anon_sql.attacks.candidates import People, RawGroups
from anon_sql.attacks.downcoding import DOWNCODED, QuasiColumn, downcoding
from anon_sql.attacks.downcoding import NAME as DOWNCODING
from anon_sql.attacks.inference import (
    INFERRED,
    Inference,
    SensitiveColumn,
    inference,
    number_values,
)
from anon_sql.attacks.inference import NAME as INFERENCE
from anon_sql.attacks.minimality import CLAIMED, VisibleClasses, minimality
from anon_sql.attacks.minimality import NAME as MINIMALITY
from anon_sql.core.arrow import first, integers, one_list
from anon_sql.core.hierarchy.column import hierarchical
from anon_sql.core.labels.reading import Ints, coverage
from anon_sql.core.parameters import read_group
from anon_sql.hosts.duckdb.binding import HELPER
from anon_sql.hosts.duckdb.pair import KEY, PairInput, as_rows, by_name, columns_of, rows_by, tables
from anon_sql.hosts.duckdb.registry import sql_type, udf
from anon_sql.hosts.duckdb.rows import buffered_rows, path_rows
from anon_sql.measures.pair import Pair
from anon_sql.privacy.class_values import NOTHING, ClassValues

_EXPOSURE, _LINKED, _GUESSED, _INFERRED, _DOWNCODED = (
    pa.list_(kind) for kind in (EXPOSURE, LINKED, GUESSED, INFERRED, DOWNCODED)
)


@udf(sql_type(_EXPOSURE))
def exposed(function: Any, argument: Any, threshold: Any) -> pa.Array:
    """Return the exposed classes of each sensitive column; threshold: NULL without one."""
    name = first(function)
    share = None
    if name == "attack_skewness":
        share = read_group(Skewness, name, {"threshold": first(threshold)}).threshold
    return as_rows(exposure(_classes(name, argument, values=True).values, share))


@udf(sql_type(_LINKED))
def linked(argument: Any, persons: Any, parameters: Any, threads: Any) -> pa.Array:
    """Return how many people are linked and disclosed."""
    people, left_out = _people("attack_linking", argument, persons)
    return as_rows(linking(people, left_out, first(parameters), first(threads)))


@udf(sql_type(_GUESSED))
def guessed(argument: Any, persons: Any, parameters: Any, threads: Any) -> pa.Array:
    """Return how many persons' values are guessed."""
    people, _ = _people("attack_background", argument, persons)
    return as_rows(background(people, first(parameters), first(threads)))


@udf(sql_type(_INFERRED))
def inferred(argument: Any, raw_groups: Any, parameters: Any) -> pa.Array:
    """Return what classes let infer of each sensitive column.

    raw_groups: the result of ``__anon_key_groups`` with values.
    """
    options = read_group(Inference, INFERENCE, first(parameters))
    _, pair, values = _classes(INFERENCE, argument, values=True)
    raw = tables(raw_groups, pair.roles.sensitive)
    columns = {}
    for name, spread in values.items():
        table, raw_values = raw.get(name, (NOTHING, None))
        numbers = None if raw_values is None else number_values(pair.types[name], raw_values)
        columns[name] = SensitiveColumn(spread, table, numbers)
    return as_rows(inference(columns, options))


@udf(sql_type(pa.list_(CLAIMED)), volatile=True)
def claimed(argument: Any, numbers: Any, row_numbers: Any, paths: Any) -> pa.Array:
    """Return what an attacker who runs the method again claims of each sensitive column.

    numbers, row_numbers, paths: the raw rows, as a release takes them.
    """
    request, source = buffered_rows(first(numbers), row_numbers)
    _, pair, values = _classes(MINIMALITY, argument, values=True)
    seen = VisibleClasses(pair.labels, pair.sizes, values)
    return one_list(minimality(source, request, path_rows(paths), seen), CLAIMED)


@udf(sql_type(_DOWNCODED))
def downcoded(argument: Any, ids: Any, raw_lists: Any) -> pa.Array:
    """Return what the labels of a release let guess; ids: the column that identifies rows.

    The groups of the release are those of ``__anon_identified_groups``.
    """
    pair_input = PairInput(DOWNCODING, argument)
    pair = pair_input.pair()
    pair.losses  # noqa: B018 - labels that cannot be read are an error
    raw, class_of = columns_of(raw_lists), None
    if first(ids) is not None:
        class_of = _class_of(pair_input, pair, first(ids), raw)
    listed = pair_input.rows_of_hierarchy(pair.roles.quasi)
    columns = []
    for name in (column.name for column in pair.domains if column.number or column.tree):
        kind, values, rows = pair.types[name], by_name(raw, name), listed.get(name)
        leaves = None if rows is None else hierarchical(DOWNCODING, name, kind, values, rows)
        columns.append(
            QuasiColumn(name, kind, pair.labels[name], pair.sizes, values, leaves, class_of)
        )
    return as_rows(downcoding(columns))


def _class_of(pair_input: PairInput, pair: Pair, ids: str, raw: Mapping[str, pa.Array]) -> Ints:
    """Return the class of each raw row by the column ``ids``, int64[n]; -1 for one left out."""
    lists = {
        name: pa.array([], pa.string()) if values is None else values.flatten()
        for name, values in pair_input.groups.items()
        if name.startswith(HELPER + "id_")
    }
    rows = rows_by(pair, ids, raw, lists)
    classes = np.append(np.repeat(np.arange(len(pair.sizes)), pair.sizes), -1)
    return np.asarray(classes[rows])


class _PairClasses(NamedTuple):
    """A call, its relations, and the values of its sensitive columns in each class, by name."""

    pair_input: PairInput
    pair: Pair
    values: Mapping[str, ClassValues]


def _classes(function: str, argument: Any, *, values: bool = False) -> _PairClasses:
    """Return a call, its relations and the values of its sensitive columns, or raise AnonError.

    values: whether the release may show one value of each class.
    """
    pair_input = PairInput(function, argument)
    pair = pair_input.pair(values=values)
    pair.losses  # noqa: B018 - labels that cannot be read are an error
    return _PairClasses(pair_input, pair, pair_input.class_values(pair))


def _people(function: str, argument: Any, persons: Any) -> tuple[People, int]:
    """Return the people of the raw table (``__anon_class_groups``) and how many rows are left
    out."""
    pair_input, pair, values = _classes(function, argument)
    columns = columns_of(persons)
    rows = pair_input.rows_of_hierarchy(pair.roles.quasi)
    covered = [
        coverage(function, name, pair.types[name], by_name(columns, name), labels, rows.get(name))
        for name, labels in pair.labels.items()
    ]
    people = People(function, covered, groups_of(columns, values), pair.sizes, values)
    return people, pair.rows - pair.released_rows


def groups_of(columns: Mapping[str, pa.Array], sensitive: Iterable[str]) -> RawGroups:
    """Return the groups of equal people of a relation; columns: of ``__anon_class_groups``."""
    lists = columns[HELPER + "held"]
    flat = lists.flatten()
    fields = {field.name: flat.field(position) for position, field in enumerate(flat.type)}
    return RawGroups(
        np.repeat(np.arange(len(lists)), integers(pc.list_value_length(lists))),
        {name: by_name(fields, KEY + name) for name in sensitive},
        integers(fields[HELPER + "count"]),
    )
