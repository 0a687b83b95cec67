"""Convert the raw table and the release that SQL passes to the input of a measure."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core import stopping
from anon_sql.core.arrow import first, integers, lists, one_array, one_list, plain, true
from anon_sql.core.columns import is_number
from anon_sql.core.hierarchy.column import tree_of
from anon_sql.core.hierarchy.tree import rows_of
from anon_sql.core.labels.as_printed import as_printed, values_by_name
from anon_sql.core.printing import printed
from anon_sql.core.roles import PARAMETER, Roles, clear_tag, fold
from anon_sql.errors import (
    COMMENTS,
    AnonError,
    Argument,
    Parameter,
    Where,
    did_you_mean,
)
from anon_sql.hosts.duckdb.binding import HELPER, flat_scope, scope_in, scope_of, types_of
from anon_sql.hosts.duckdb.registry import require_one_call, sql_type, udf
from anon_sql.hosts.duckdb.relation import Table, find
from anon_sql.hosts.duckdb.roles import resolve_roles
from anon_sql.hosts.duckdb.rows import named, path_rows
from anon_sql.measures.classes import IMBALANCE, imbalance
from anon_sql.measures.loss import AttributeDomain, domain
from anon_sql.measures.pair import (
    ORDER,
    Pair,
    require_any,
    require_released,
    require_types,
    row_pairs,
)
from anon_sql.measures.quality import FAULT, Profile, data_quality
from anon_sql.measures.utility import CountedRelease, LabelCounts, Sizes, counted_as_printed
from anon_sql.privacy.class_values import ClassValues, TableValues, table_values
from anon_sql.privacy.class_values import class_values as values_of

KEY, VALUE = HELPER + "key_", HELPER + "value_"
_NONE = np.zeros(0, dtype=np.int64)


class PairInput:
    """The struct that a call passes, with fields converted on demand.

    function: name of the SQL function, for errors.
    """

    def __init__(self, function: str, argument: Any) -> None:
        self.function = function
        self._struct = one_array(argument)
        require_one_call(function, self._struct)
        self.call: dict[str, Any] = flat_scope(self.value("call"))
        stopping.belongs_to(self.value("connection"))
        stopping.check(function)
        self.types: dict[str, str] = self.value("types")
        self.groups = lists(self._struct.field("groups"))

    def value(self, name: str) -> Any:
        """Return a field as a Python object."""
        return self._struct.field(name)[0].as_py()

    def roles(self, *, values: bool = False) -> Roles:
        """Return the roles. Raises AnonError for roles or types that do not fit.

        values: whether the release may show one value of each class, see ``require_types``.
        """
        roles = roles_of(
            self.function, self.types, self.call, self.value("seen"), self.value("released")
        )
        by_fold = {fold(name): kind for name, kind in self.value("released_types").items()}
        if not self.alone:
            require_types(self.function, roles.quasi, self.types, by_fold, values=values)
        return roles

    def pair(self, *, values: bool = False) -> Pair:
        """Return both relations; values and errors: as of ``roles``."""
        roles = self.roles(values=values)
        groups = {fold(name): values for name, values in self.groups.items()}
        sizes = integers(_or_none(groups[HELPER + "count"], pa.int64()))
        domains = [] if self.alone else self._domains(roles.quasi)
        labels = {name: _or_none(groups[fold(name)], pa.string()) for name in roles.quasi}
        if self.alone:
            kinds = [self.types[name] for name in labels]
            labels = dict(zip(labels, printed(list(labels.values()), kinds), strict=True))
            raw = values_by_name(labels, {}, dict.fromkeys(labels, sizes))
        else:
            raw = {column.name: column.raw for column in domains}
        return Pair(
            self.function,
            roles,
            self.value("rows"),
            self.types,
            self.value("released_types"),
            domains,
            as_printed(labels, raw, sizes),
            sizes,
            self.alone,
        )

    @property
    def alone(self) -> bool:
        """Whether one table is measured, whose cells are values and not labels."""
        return bool(self.value("alone"))

    def smallest_class(self) -> int | None:
        """Return the rows of the smallest class that ``__anon_tally`` has counted, if any."""
        sizes = _sizes(self.groups[HELPER + "sizes"]).size
        return int(sizes.min()) if len(sizes) else None

    def counted(self, quasi: Sequence[str]) -> CountedRelease:
        """Return quasi-identifiers of both relations, counted by ``__anon_tally``."""
        counted = {fold(name): values for name, values in self.groups.items()}
        domains, sizes = self._domains(quasi), _sizes(counted[HELPER + "sizes"])
        labels = {name: _labels(counted[fold(name)]) for name in quasi}
        read = counted_as_printed(domains, labels, sizes)
        return CountedRelease(self.function, self.value("rows"), domains, *read)

    def rows_of_hierarchy(self, names: Sequence[str]) -> dict[str, pa.StructArray]:
        """Return the rows of the hierarchy by column, see ``rows_of``."""
        paths = path_rows(self._struct.field("paths"))
        types = {name: self.types[name] for name in names}
        return rows_of(paths, types, self.value("time_zone"))

    def ends(self, name: str) -> pa.Array:
        """Return an array of the smallest and the largest value of a quasi-identifier."""
        summary = self._struct.field("domains").field(name)
        return pa.concat_arrays([plain(summary.field(end)) for end in ("low", "high")])

    def _domains(self, quasi: Sequence[str]) -> list[AttributeDomain]:
        """Return the domain of each quasi-identifier in the raw table."""
        listed = self.rows_of_hierarchy(quasi)
        columns = self._struct.field("domains")
        domains = []
        for name in quasi:
            stopping.check(self.function)
            kind, summary = self.types[name], columns.field(name)
            rows = listed.get(name)
            tree = None if rows is None else tree_of(self.function, name, kind, rows)
            words = summary.field("words")[0].values
            domains.append(
                domain(
                    self.function,
                    name,
                    kind,
                    is_number(self.function, name, kind),
                    self.ends(name),
                    None if words is None else plain(words),
                    summary.field("nulls")[0].as_py(),
                    tree,
                )
            )
        return domains

    def class_values(self, pair: Pair) -> dict[str, ClassValues]:
        """Return the distribution of each sensitive column in every class.

        The groups must come from ``__anon_class_groups``. Raises AnonError if the call has no
        sensitive column, or the release lacks one.
        """
        names = pair.roles.sensitive
        kind = self._struct.type.field("groups").type.field(HELPER + "held").type
        bound = [field.name for field in kind.value_type.value_type]
        require_bound(self.function, names, [n.removeprefix(KEY) for n in bound if KEY in n])
        require_any(self.function, names)
        require_released(self.function, names, list(pair.released))
        classes = self.groups[HELPER + "held"]
        if classes is None:
            return {name: values_of(_NONE, pa.array([], pa.binary()), _NONE) for name in names}
        class_of = np.repeat(np.arange(len(classes)), np.diff(integers(classes.offsets)))
        held_by = classes.flatten()
        keys = {fold(field.name): field.name for field in held_by.type}
        counts = integers(held_by.field(HELPER + "count"))
        return {
            name: values_of(class_of, held_by.field(keys[fold(KEY + name)]), counts)
            for name in names
        }


def require_bound(
    function: str, columns: Sequence[str], bound: Sequence[str], parameter: str = "sensitive"
) -> None:
    """Raise AnonError unless the columns are those picked when the call was bound."""
    if {fold(n) for n in columns} != {fold(n) for n in bound} - {HELPER + "zero"}:
        raise AnonError(
            function,
            "comments count only where the relation is the committed table they were written on",
            "a relation of that name that differs from it",
            "give the relation another name and pass " + Argument(parameter, [...]),
        )


def tables(argument: Any, names: Sequence[str]) -> dict[str, tuple[TableValues, pa.Array | None]]:
    """Return the counts of the values of each sensitive column, and the values if they are given.

    argument: the result of ``__anon_key_groups``. The result is empty for a table without rows.
    """
    groups = lists(argument)
    counts = groups[HELPER + "count"]
    if counts is None:
        return {}
    keys, values = ({fold(n): v for n, v in named(groups, p).items()} for p in (KEY, VALUE))
    by_column = {}
    for name in names:
        raw_keys = keys[fold(name)]
        one_each = table_values(raw_keys, integers(counts))
        stand_for = values.get(fold(name))
        positions = pc.index_in(one_each.keys, raw_keys)
        by_column[name] = one_each, None if stand_for is None else stand_for.take(positions)
    return by_column


def rows_by(pair: Pair, name: str, *columns: Mapping[str, pa.Array]) -> npt.NDArray[np.int64]:
    """Return the released row of each raw row by the column ``name``, see ``row_pairs``.

    columns: of both relations, the ids among them. Raises AnonError for a name that one lacks.
    """
    for types in (pair.types, pair.released):
        if fold(name) not in map(fold, types):
            rule = Parameter("id") + " must name a column of the raw table and of the release"
            raise AnonError(pair.function, rule, f"'{name}'", did_you_mean(name, types))
    ids = [by_name(named(relation_columns, HELPER + "id_"), name) for relation_columns in columns]
    return row_pairs(pair.function, name, *ids)


def roles_of(
    function: str,
    types: Mapping[str, str],
    scope: Mapping[str, Any],
    seen: Sequence[Mapping[str, Any]] | None,
    released: str,
) -> Roles:
    """Return the roles of a call that releases nothing.

    They are those of a release, except that ``quasi`` may omit declared quasi-identifiers. Raises
    AnonError as ``resolve_roles`` does, and if roles are declared on the second relation only.
    """
    scope = flat_scope(scope)
    raw_quasi, released_quasi = (
        declared(find(relation, scope_of(scope), seen or []), "quasi")
        for relation in (scope["relation"], released)
    )
    columns = {fold(name) for name in types}
    chosen = {fold(name) for name in as_names(scope["quasi"])}
    kept = [name for name in raw_quasi if fold(name) in columns and fold(name) not in chosen]
    sensitive = {fold(name) for name in as_names(scope["sensitive"])}
    for name in kept:
        if fold(name) in sensitive:
            raise AnonError(
                function,
                "a column has one role",
                f"{name} as quasi and as sensitive",
                "leave it out of "
                + Parameter("sensitive")
                + Where(COMMENTS, " or change what is declared"),
            )
    try:
        others = [name for role in PARAMETER.values() for name in as_names(scope[role])]
        also = [name for name in kept if fold(name) not in map(fold, others)]
        keep = scope["keep"] if scope["quasi"] is None else [*as_names(scope["keep"]), *also]
        return resolve_roles(function, types, {**scope, "keep": keep}, seen)
    except AnonError:
        if scope["quasi"] is None and released_quasi and not raw_quasi:
            got = "roles declared on the second only"
            raise AnonError(function, ORDER, got, "swap them") from None
        raise


def as_names(value: Any) -> list[str]:
    """Return the names in a parameter that is a name, a list of names or NULL."""
    names = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return [name for name in names if isinstance(name, str)]


def declared(table: Table | None, role: str) -> list[str]:
    """Return the columns that comments declare to have a role, ignoring invalid comments."""
    pairs = zip(table.names, table.comments, strict=True) if table else []
    return [name for name, comment in pairs if clear_tag(comment) == role]


def _labels(counted: pa.StructArray | None) -> LabelCounts:
    if counted is None:
        return LabelCounts(pa.array([], pa.string()), _NONE, _NONE)
    rows, classes = (integers(counted.field(name)) for name in ("rows", "classes"))
    return LabelCounts(plain(counted.field("label")), rows, classes)


def _sizes(counted: pa.StructArray | None) -> Sizes:
    if counted is None:
        none = _NONE.astype(np.bool_)
        return Sizes(_NONE, _NONE, none, none)
    size, classes = (integers(counted.field(name)) for name in ("size", "classes"))
    return Sizes(size, classes, *(true(counted.field(name)) for name in ("suppressed", "null")))


def _or_none(values: pa.Array | None, kind: pa.DataType) -> pa.Array:
    """Return values, or an empty array of a type if there is no group."""
    return pa.array([], kind) if values is None else values


def columns_of(argument: Any) -> dict[str, pa.Array]:
    """Return the lists of a one-row struct by field name, empty for those of an empty relation."""
    return {
        name: plain(pa.array([], argument.type.field(name).type.value_type))
        if values is None
        else values
        for name, values in lists(argument).items()
    }


def as_rows(table: pa.Table) -> pa.Array:
    """Return the rows of a table as a single list of structs."""
    return one_list(one_array(table.to_struct_array()), pa.struct(list(table.schema)))


def by_name(columns: Mapping[str, Any], name: str) -> Any:
    """Return the column of a name that may be spelt in another way."""
    return next(values for column, values in columns.items() if fold(column) == fold(name))


@udf(sql_type(pa.list_(IMBALANCE)))
def value_ratios(
    function: Any, types: Any, scope: Any, seen: Any, groups: Any, connections: Any
) -> pa.Array:
    """Return the rows of ``imbalance``; groups: the texts of sensitive columns, with counts;
    connections: DuckDB's connection id."""
    stopping.belongs_to(first(connections))
    name, listed = first(function), lists(groups)
    stopping.check(name)
    texts = named(listed, HELPER + "text_")
    roles = resolve_roles(name, types_of(types), scope_in(scope), first(seen), needs_quasi=False)
    require_bound(name, roles.sensitive, list(texts))
    require_any(name, roles.sensitive)
    counts = listed[HELPER + "count"]
    if counts is None:
        return pa.array([[]], pa.list_(IMBALANCE))
    columns = {column: texts[column] for column in roles.sensitive}
    return pa.array([imbalance(columns, integers(counts))], pa.list_(IMBALANCE))


@udf(sql_type(pa.list_(FAULT)))
def faults(
    types: Any, scope: Any, seen: Any, profiles: Any, rows: Any, distinct: Any, connections: Any
) -> pa.Array:
    """Return the rows of ``data_quality``; profiles: of every column, see ``__anon_profile``; rows:
    of the table; distinct: how many of them differ in a column that is no identifier;
    connections: DuckDB's connection id."""
    stopping.belongs_to(first(connections))
    columns, total = types_of(types), first(rows)
    roles = resolve_roles("data_quality", columns, scope_in(scope), first(seen), needs_quasi=False)
    packed = one_array(profiles)
    column_profiles = []
    for name, kind in columns.items():
        stopping.check("data_quality")
        profile = packed.field(name)
        values = profile.field("held")[0]
        nulls = first(profile.field("nulls"))
        column_profiles.append(
            Profile(name, kind, nulls, plain(values.values) if values.is_valid else None)
        )
    repeated = total - first(distinct) if len(roles.identifier) < len(columns) else 0
    return pa.array([data_quality(column_profiles, total, repeated)], pa.list_(FAULT))
