"""Convert the argument of a measure (``__anon_given``) to the input of the core."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import integers, lists, plain, true, whole
from anon_sql.core.columns import is_number
from anon_sql.core.hierarchy.hierarchical import tree_of
from anon_sql.core.hierarchy.rows import rows_of
from anon_sql.core.roles import Roles, fold
from anon_sql.core.tags import clear_tag
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb.calls.binding import HELPER, scope_of
from anon_sql.hosts.duckdb.calls.taking import given_paths, named
from anon_sql.hosts.duckdb.relation import Table, find
from anon_sql.hosts.duckdb.settling import settle
from anon_sql.measures.counted_release import CountedRelease, Labels, Sizes
from anon_sql.measures.domain import Domain, domain
from anon_sql.measures.pair import Pair, require_any, require_released, require_types
from anon_sql.measures.readable import ORDER
from anon_sql.measures.spread import Held, Spread, held, spread

KEY, VALUE = HELPER + "key_", HELPER + "value_"
_NONE = np.zeros(0, dtype=np.int64)


class Given:
    """The struct that a call passes, with fields converted on demand.

    function: name of the SQL function, for errors.
    """

    def __init__(self, function: str, argument: Any) -> None:
        self.function = function
        self._struct = whole(argument)
        self.call: dict[str, Any] = self.value("call")
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
        require_types(self.function, roles.quasi, self.types, by_fold, values=values)
        return roles

    def pair(self, *, values: bool = False) -> Pair:
        """Return both relations; values and errors: as of ``roles``."""
        roles = self.roles(values=values)
        shown = {fold(name): values for name, values in self.groups.items()}
        sizes = shown[HELPER + "count"]
        return Pair(
            self.function,
            roles,
            self.value("rows"),
            self.types,
            self.value("released_types"),
            self._domains(roles.quasi),
            {name: _or_none(shown[fold(name)], pa.string()) for name in roles.quasi},
            integers(_or_none(sizes, pa.int64())),
        )

    def counted(self, quasi: Sequence[str]) -> CountedRelease:
        """Return quasi-identifiers of both relations, counted by ``__anon_tally``."""
        counted = {fold(name): values for name, values in self.groups.items()}
        return CountedRelease(
            self.function,
            self.value("rows"),
            self._domains(quasi),
            {name: _labels(counted[fold(name)]) for name in quasi},
            _sizes(counted[HELPER + "sizes"]),
        )

    def rows_of_hierarchy(self, names: Sequence[str]) -> dict[str, pa.StructArray]:
        """Return the rows of the hierarchy by column, see ``rows_of``."""
        paths = given_paths(self._struct.field("paths"))
        types = {name: self.types[name] for name in names}
        return rows_of(paths, types, self.value("time_zone"))

    def ends(self, name: str) -> pa.Array:
        """Return an array of the smallest and the largest value of a quasi-identifier."""
        summary = self._struct.field("domains").field(name)
        return pa.concat_arrays([plain(summary.field(end)) for end in ("low", "high")])

    def _domains(self, quasi: Sequence[str]) -> list[Domain]:
        """Return the domain of each quasi-identifier in the raw table."""
        listed = self.rows_of_hierarchy(quasi)
        columns = self._struct.field("domains")
        found = []
        for name in quasi:
            kind, summary = self.types[name], columns.field(name)
            rows = listed.get(name)
            tree = None if rows is None else tree_of(self.function, name, kind, rows)
            words = summary.field("words")[0].values
            found.append(
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
        return found

    def spreads(self, pair: Pair) -> dict[str, Spread]:
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
            return {name: spread(_NONE, pa.array([], pa.binary()), _NONE) for name in names}
        class_of = np.repeat(np.arange(len(classes)), np.diff(integers(classes.offsets)))
        held_by = classes.flatten()
        keys = {fold(field.name): field.name for field in held_by.type}
        counts = integers(held_by.field(HELPER + "count"))
        return {
            name: spread(class_of, held_by.field(keys[fold(KEY + name)]), counts) for name in names
        }


def require_bound(function: str, sensitive: Sequence[str], bound: Sequence[str]) -> None:
    """Raise AnonError unless the sensitive columns are those picked when the call was bound."""
    if {fold(n) for n in sensitive} != {fold(n) for n in bound} - {HELPER + "zero"}:
        raise AnonError(
            function,
            "comments count only where the relation is the committed table they were written on",
            "a relation of that name that differs from it",
            "give the relation another name and pass sensitive := […]",
        )


def helds(argument: Any, names: Sequence[str]) -> dict[str, tuple[Held, pa.Array | None]]:
    """Return the counts of the values of each sensitive column, and the values if they are given.

    argument: the result of ``__anon_key_groups``. The result is empty for a table without rows.
    """
    groups = lists(argument)
    counts = groups[HELPER + "count"]
    if counts is None:
        return {}
    keys, values = ({fold(n): v for n, v in named(groups, p).items()} for p in (KEY, VALUE))
    found = {}
    for name in names:
        known = keys[fold(name)]
        one_each = held(known, integers(counts))
        stand_for = values.get(fold(name))
        at = pc.index_in(one_each.keys, known)
        found[name] = one_each, None if stand_for is None else stand_for.take(at)
    return found


def roles_of(
    function: str,
    types: Mapping[str, str],
    scope: Mapping[str, Any],
    seen: Sequence[Mapping[str, Any]] | None,
    released: str,
) -> Roles:
    """Return the roles of a call that releases nothing.

    They are those of a release, except that ``qids`` may omit declared quasi-identifiers. Raises
    AnonError as ``settle`` does, and if roles are declared on the second relation only.
    """
    ours, theirs = (
        declared(find(relation, scope_of(scope), seen or []), "quasi")
        for relation in (scope["relation"], released)
    )
    columns = {fold(name) for name in types}
    chosen = {fold(name) for name in listed(scope["qids"])}
    kept = [name for name in ours if fold(name) in columns and fold(name) not in chosen]
    sensitive = {fold(name) for name in listed(scope["sensitive"])}
    for name in kept:
        if fold(name) in sensitive:
            raise AnonError(
                function,
                "a column has one role",
                f"{name} as quasi and as sensitive",
                "leave it out of sensitive or change what is declared",
            )
    try:
        also = [name for name in kept if fold(name) not in map(fold, listed(scope["keep"]))]
        keep = scope["keep"] if scope["qids"] is None else [*listed(scope["keep"]), *also]
        return settle(function, types, {**scope, "keep": keep}, seen)
    except AnonError:
        if scope["qids"] is None and theirs and not ours:
            got = "roles declared on the second only"
            raise AnonError(function, ORDER, got, "swap them") from None
        raise


def listed(given: Any) -> list[str]:
    """Return the names in a parameter that is a name, a list of names or NULL."""
    names = [given] if isinstance(given, str) else given if isinstance(given, list) else []
    return [name for name in names if isinstance(name, str)]


def declared(table: Table | None, role: str) -> list[str]:
    """Return the columns that comments declare to have a role, ignoring invalid comments."""
    pairs = zip(table.names, table.comments, strict=True) if table else []
    return [name for name, comment in pairs if clear_tag(comment) == role]


def _labels(counted: pa.StructArray | None) -> Labels:
    if counted is None:
        return Labels(pa.array([], pa.string()), _NONE, _NONE)
    rows, classes = (integers(counted.field(name)) for name in ("rows", "classes"))
    return Labels(plain(counted.field("label")), rows, classes)


def _sizes(counted: pa.StructArray | None) -> Sizes:
    if counted is None:
        return Sizes(_NONE, _NONE, _NONE.astype(np.bool_))
    size, classes = (integers(counted.field(name)) for name in ("size", "classes"))
    return Sizes(size, classes, true(counted.field("suppressed")))


def _or_none(values: pa.Array | None, kind: pa.DataType) -> pa.Array:
    """Return values, or an empty array of a type if there is no group."""
    return pa.array([], kind) if values is None else values
