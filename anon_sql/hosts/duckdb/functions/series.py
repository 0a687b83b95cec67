"""Make and read the state of a series, release and audit its cohorts, as SQL calls it."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.audit.compared import ROW
from anon_sql.audit.parameters import NAME as AUDIT
from anon_sql.audit.series import SeriesClasses, series_properties
from anon_sql.core.arrow import (
    first,
    one_array,
    one_list,
    one_map,
    one_struct,
    plain,
    without_views,
)
from anon_sql.core.columns import shown_type
from anon_sql.core.hierarchy.tree import rows_of
from anon_sql.core.parameters import read_group
from anon_sql.core.pseudonyms import key_of, person_hashes, require_type
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, Parameter, listed
from anon_sql.hosts.duckdb.binding import HELPER, types_of
from anon_sql.hosts.duckdb.functions.release import (
    PRINTED_FIELDS,
    TEXT,
    of_classes,
    require_bound,
)
from anon_sql.hosts.duckdb.pair import as_rows
from anon_sql.hosts.duckdb.registry import sql_type, udf
from anon_sql.hosts.duckdb.rows import buffered_rows, named, path_rows
from anon_sql.measures.pair import require_types
from anon_sql.pipeline.request import Request, Source
from anon_sql.privacy.model import many as counted
from anon_sql.series.next import NAME, Next, SeriesTable, next_state
from anon_sql.series.release import SeriesRelease, release
from anon_sql.series.state import (
    SeriesPeople,
    State,
    digests,
    read_state,
    require_columns,
    series_key,
)

_ROW = pa.struct([("cohort", pa.int64()), ("person", pa.string()), ("tuple", pa.string())])
_STATE = pa.list_(_ROW)
_FIGURES = ("cohorts", "present", "former", "waiting", "withheld", "changed")
_AUDIT_ROWS = pa.list_(ROW)
_STATUS = pa.list_(
    pa.struct(
        [
            ("release", pa.int64()),
            ("made_at", pa.string()),
            *((name, pa.int64()) for name in _FIGURES),
            ("largest_waiting_share", pa.float64()),
            ("l", pa.int64()),
        ]
    )
)
_RELEASE = pa.struct(
    [
        ("class", pa.list_(pa.int32())),
        ("kept", pa.map_(pa.string(), TEXT)),
        *PRINTED_FIELDS,
    ]
)


@udf(sql_type(_STATE), volatile=True)
def next(
    numbers: Any,
    people: Any,
    paths: Any,
    types: Any,
    state: Any,
    state_types: Any,
    parameters: Any,
    key: Any,
    looks: Any,
) -> pa.Array:
    """Return the rows of the next state.

    numbers: of the buffer. people: a list of structs with the number of each row, the text of its
    entity, and its tuple. state, state_types: the rows of the state before. parameters: as called.
    looks: as ``buffered_rows`` takes them.
    """
    table, secret = _table(first(numbers), people, paths, types, first(key), looks)
    if table is None:
        raise AnonError(NAME, "a table must have persons", "no row")
    settings = dict(first(parameters))
    settings["l"] = settings.pop("asked_l")
    before = _state(NAME, state, state_types, secret)
    return _rows(next_state(before, table, read_group(Next, NAME, settings), secret))


def _rows(state: State) -> pa.Array:
    return one_list(state.rows().cast(_ROW), _ROW)


def _state(function: str, state: Any, types: Any, key: bytes | None) -> State | None:
    """Return the state that a list of structs is; key: None where it needs none."""
    rows = plain(without_views(one_array(state)[0].values))
    return read_state(function, rows, first(types), key)


def _required_state(function: str, state: Any, types: Any, key: bytes | None) -> State:
    """Return the state of a series. Raises AnonError for one without rows."""
    series = _state(function, state, types, key)
    if series is None:
        rule = Parameter("series") + " must be a state that series_next has made"
        raise AnonError(function, rule, "no row")
    return series


def _table(
    number: int, people: Any, paths: Any, types: Any, key_name: str, looks: Any = None
) -> tuple[SeriesTable | None, bytes]:
    """Return the people of a call, None for a table without rows, and the key of the series."""
    packed = one_array(people)
    has_rows = packed[0].is_valid
    rows = packed[0].values if has_rows else None
    numbers = one_list(None if rows is None else rows.field("number"), pa.int32())
    request, source = buffered_rows(number, numbers, looks)
    function = request.function
    key = series_key(key_of(function, key_name))
    if source is None or rows is None:
        return None, key
    sql_types = types_of(types)
    entity = _required(request)
    require_type(function, "entity", sql_types[entity])
    texts = rows.field("person")
    if texts.null_count:
        rule = Parameter("entity") + " must say whose each row is"
        raise AnonError(function, rule, "NULL", "leave these rows out")
    hashes = person_hashes(texts, sql_types[entity], key)
    many = len(hashes) - len(hashes.unique())
    if many:
        raise AnonError(
            function,
            "a series needs a table with one row per person",
            f"{counted(many, 'row')} more than persons",
            "aggregate the rows of a person, or release them without a series",
        )
    tuples, codes = _tuples(rows.field("tuple"), request)
    persons = hashes.to_pylist()
    order = np.frombuffer(b"".join(person_hash[:8] for person_hash in persons), np.uint64)
    columns: Mapping[str, Mapping[str, str]] = {
        "sensitive": {name: sql_types[name] for name in request.sensitive},
        "kept": {name: sql_types[name] for name in request.kept if name not in request.sensitive},
        "entity": {entity: shown_type(sql_types[entity])},
    }
    texts = pa.array([person_hash.hex() for person_hash in persons], pa.string())
    return (
        SeriesTable(
            Source(source.quasi, pa.array(order)),
            request,
            path_rows(paths),
            SeriesPeople(texts, digests(key, persons, tuples), tuples),
            codes,
            columns,
        ),
        key,
    )


def _tuples(
    texts: pa.StringArray, request: Request
) -> tuple[pa.DictionaryArray, npt.NDArray[np.int32]]:
    """Return the tuple of each row as JSON, and the code of its value of each sensitive column.

    texts: JSON of the values that __anon_series_people tells.
    """
    coded = texts.dictionary_encode()
    tuples = [_tuple(text, request) for text in coded.dictionary.to_pylist()]
    if any(tuple_values[name] is None for tuple_values in tuples for name in request.sensitive):
        raise AnonError(
            request.function,
            "every person of a series must have a sensitive value",
            "NULL in " + listed(list(request.sensitive)),
            "write a word such as 'unknown' instead, or leave these rows out",
        )
    indices = coded.indices.to_numpy()
    codes = np.empty((len(indices), len(request.sensitive)), np.int32)
    for column, name in enumerate(request.sensitive):
        values = pa.array(
            [tuple_values[name] for tuple_values in tuples], pa.string()
        ).dictionary_encode()
        codes[:, column] = values.indices.to_numpy()[indices]
    printed = pa.array(
        [json.dumps(tuple_values, ensure_ascii=False) for tuple_values in tuples], pa.string()
    )
    return pa.DictionaryArray.from_arrays(coded.indices, printed), codes


def _required(request: Request) -> str:
    """Return the column of people. Raises AnonError without it or a sensitive column."""
    if request.entity is None:
        rule = "a series needs " + Parameter("entity") + ", the column that identifies the person"
        raise AnonError(request.function, rule)
    if not request.sensitive:
        raise AnonError(request.function, "a series needs " + Parameter("sensitive") + " columns")
    return request.entity


_TEXT, _QUASI = HELPER + "text_", HELPER + "quasi_"


def _tuple(text: str, request: Request) -> dict[str, str | None]:
    """Return the sensitive and kept values of a row as texts, by name in the order of the table."""
    values = {name.removeprefix(_TEXT): value for name, value in json.loads(text).items()}
    return {name: values[name] for name in request.kept}


@udf(sql_type(_STATUS), volatile=True)
def status(state: Any, types: Any) -> pa.Array:
    """Return the figures of the releases of a state, a list of structs."""
    series = _state("series_status", state, types, None)
    return pa.array([[] if series is None else series.releases], _STATUS)


@udf(sql_type(_STATE), volatile=True)
def forget_persons(state: Any, types: Any, persons: Any, key: Any) -> pa.Array:
    """Return the rows of a state without some people, given as texts."""
    function = "series_forget"
    secret = series_key(key_of(function, first(key)))
    series = _state(function, state, types, secret)
    if series is None:
        raise AnonError(function, Parameter("state") + " must be that of a series", "no row")
    texts = one_array(persons)[0].values
    ((_, kind),) = series.head["columns"]["entity"].items()
    hashes = person_hashes(texts, kind, secret).drop_null().to_pylist()
    series.forget(pa.array([person_hash.hex() for person_hash in hashes], pa.string()))
    return _rows(series)


@udf(sql_type(_RELEASE), volatile=True)
def result(
    numbers: Any,
    people: Any,
    paths: Any,
    types: Any,
    state: Any,
    state_types: Any,
    key: Any,
    kept_names: Any,
    quasi_names: Any,
    looks: Any,
) -> pa.Array:
    """Return the class and the kept values of each released row, and the labels of each class.

    Classes count from 1. The first arguments are as for ``next``. kept_names, quasi_names: the
    columns picked while the statement was bound. looks: as ``buffered_rows`` takes them. The
    result is NULL for a table without rows.
    """
    table, secret = _table(first(numbers), people, paths, types, first(key), looks)
    if table is None:
        return pa.array([None], _RELEASE)
    request = table.request
    require_bound(request.function, request.kept, first(kept_names))
    require_bound(request.function, request.quasi, first(quasi_names))
    before = _required_state(request.function, state, state_types, secret)
    return _packed(release(before, table, secret))


def _packed(released: SeriesRelease) -> pa.StructArray:
    values = [one_list(texts, pa.string()) for texts in released.values.values()]
    return one_struct(
        {
            "class": one_list(released.class_of + 1, pa.int32()),
            "kept": one_map(list(released.values), values, TEXT),
            **of_classes(released.labels),
        }
    )


@udf(sql_type(_AUDIT_ROWS), volatile=True)
def audited(
    numbers: Any,
    people: Any,
    paths: Any,
    types: Any,
    state: Any,
    state_types: Any,
    key: Any,
    parameters: Any,
    shown: Any,
) -> pa.Array:
    """Return the properties of an audit that are about a series, or raise AnonError.

    The first arguments are as for ``next``. parameters: k, the time zone, and types, by column of
    the release; shown: what ``__anon_series_shown`` returns.
    """
    table, secret = _table(first(numbers), people, paths, types, first(key))
    if table is None:
        raise AnonError(AUDIT, "a table must have persons", "no row")
    before = _required_state(AUDIT, state, state_types, secret)
    require_columns(AUDIT, before, table.columns)
    before.require_present(AUDIT, table.persons, secret)
    settings, raw_types = first(parameters), types_of(types)
    file_types = {fold(name): kind for name, kind in settings["types"].items()}
    require_types(AUDIT, list(table.request.quasi), raw_types, file_types, values=True)
    rows = series_properties(
        before,
        table,
        _shown(one_array(shown), table.request, raw_types, file_types),
        rows_of(table.paths, table.request.quasi, settings["time_zone"]),
        settings["k"],
    )
    return as_rows(pa.Table.from_pylist([row.row() for row in rows], pa.schema(list(ROW))))


def _shown(
    classes: pa.StructArray,
    request: Request,
    types: Mapping[str, str],
    file_types: Mapping[str, str],
) -> SeriesClasses:
    """Return the classes of a file; types: of the raw table; file_types: by folded name."""
    lists = {
        field.name: classes.field(position)[0].values for position, field in enumerate(classes.type)
    }
    labels = {fold(name): plain(values) for name, values in named(lists, _QUASI).items()}
    tuples = lists["__anon_tuples"]
    texts = plain(without_views(tuples.flatten())).dictionary_encode()
    printed = []
    for text in texts.dictionary.to_pylist():
        values = {fold(n.removeprefix(_TEXT)): value for n, value in json.loads(text).items()}
        kept_values = {name: values.get(fold(name)) for name in request.kept}
        printed.append(json.dumps(kept_values, ensure_ascii=False))
    rows = pa.array(printed, pa.string()).take(texts.indices)
    return SeriesClasses(
        {name: labels[fold(name)] for name in request.quasi},
        pa.ListArray.from_arrays(tuples.offsets.cast(pa.int32()), rows),
        [name for name in request.kept if file_types.get(fold(name)) != types[name]],
    )
