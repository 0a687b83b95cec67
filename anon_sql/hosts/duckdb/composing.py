"""Convert the raw table and several releases that SQL passes to the input of ``composition``."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.attacks.candidates import (
    Ranks,
    RawPeople,
    ReleaseClasses,
    ReleasedTuples,
    persons,
    ranked,
)
from anon_sql.attacks.candidates import release as release_of
from anon_sql.attacks.composition import NAME, View
from anon_sql.core import stopping
from anon_sql.core.arrow import first, integers, one_array, valid
from anon_sql.core.columns import approximate, is_number
from anon_sql.core.hierarchy.tree import rows_of
from anon_sql.core.labels.as_printed import as_printed, values_by_name
from anon_sql.core.labels.one_value import shows_values
from anon_sql.core.labels.reading import Coverage, Ints, coverage
from anon_sql.core.printing import printed
from anon_sql.core.roles import Roles, fold
from anon_sql.errors import AnonError, Parameter, RelationName, did_you_mean, listed
from anon_sql.hosts.duckdb.binding import HELPER
from anon_sql.hosts.duckdb.pair import (
    KEY,
    as_names,
    by_name,
    columns_of,
    require_bound,
    roles_of,
)
from anon_sql.hosts.duckdb.rows import named, path_rows
from anon_sql.measures.differences import ReleaseEntries
from anon_sql.measures.pair import TREE_HINT, is_label, require_any, require_types
from anon_sql.privacy.class_values import NULL, ordered

MAX_RELEASES = 12  # releases, as the macro binds them


class ReleaseInput:
    """The classes of one release, as the macro passes them.

    columns: of the whole tuple, those that the release has.
    """

    def __init__(self, function: str, name: str, packed: Any, roles: Roles) -> None:
        self.function, self.name = function, name
        self.types: dict[str, str] = first(packed.field("types"))
        self.by_fold = {fold(column): kind for column, kind in self.types.items()}
        self.groups = {fold(n): v for n, v in columns_of(packed.field("groups")).items()}
        self.quasi = [column for column in roles.quasi if fold(column) in self.by_fold]
        if not self.quasi:
            raise AnonError(
                function,
                "every release must have a quasi-identifier",
                "no such column in " + RelationName(name),
                did_you_mean(roles.quasi[0], self.types),
            )
        self.lists = self.groups[HELPER + "held"]
        self.classes = len(self.lists)
        inside = self.lists.type.value_type
        self.bound = [n.removeprefix(KEY) for n in (f.name for f in inside) if n.startswith(KEY)]
        bound = {fold(column) for column in self.bound}
        whole = [column for column in (*roles.sensitive, *roles.keep) if fold(column) in bound]
        self.columns = [column for column in whole if fold(column) in self.by_fold]

    def read(
        self,
        kinds: Mapping[str, str],
        values: Mapping[str, pa.Array],
        rows: Ints,
        trees: Mapping[str, pa.StructArray],
    ) -> list[Coverage | None]:
        """Return what the labels of each quasi-identifier cover; None where there is none.

        rows: of each of the values. Raises AnonError for labels that cannot be read.
        """
        for name in self.quasi:
            self._require_no_mean(name, kinds[name], values[name], rows)
        quasi_values = {name: values[name] for name in self.quasi}
        labels = as_printed(
            {name: self._labels(name, kinds[name]) for name in self.quasi},
            values_by_name(quasi_values, trees, dict.fromkeys(quasi_values, rows)),
            self.sizes,
        )
        coverages = {
            name: coverage(self.function, name, kinds[name], values[name], shown, trees.get(name))
            for name, shown in labels.items()
        }
        for name, column in coverages.items():
            wrong = int(column.parsed.malformed[column.label_of].sum())
            if wrong:
                raise AnonError(
                    self.function,
                    f"a label of {name} must be one that a release prints",
                    f"{wrong:,} other class{'' if wrong == 1 else 'es'} in "
                    + RelationName(self.name),
                    TREE_HINT,
                )
        return [coverages.get(name) for name in kinds]

    def _require_no_mean(self, name: str, raw: str, values: pa.Array, rows: Ints) -> None:
        """Raise AnonError if a column of numbers shows a value in more rows than the raw table has.

        Means, medians and midpoints do, values that were left unchanged do not.
        """
        labels, kind = self.groups[fold(name)], self.by_fold[fold(name)]
        if not is_number(self.function, name, raw) or not shows_values(labels):
            return
        keys = np.concatenate([_keys(raw, values), _keys(kind, labels)])
        _, place = np.unique(keys, return_inverse=True)
        left = np.bincount(place.reshape(-1), np.concatenate([rows, -self.sizes]))
        if (left < 0).any():
            raise AnonError(
                self.function,
                f"the releases must show labels of {listed([name])}, or its values unchanged",
                "means, medians, midpoints or values of other rows in " + RelationName(self.name),
                "these cannot be composed; cast values that are unchanged to VARCHAR",
            )

    def _labels(self, name: str, raw: str) -> pa.Array:
        """Return the labels of a column; values that were left unchanged as they print."""
        labels, kind = self.groups[fold(name)], self.by_fold[fold(name)]
        plain = not is_label(kind) and not kind.startswith("STRUCT") and not kind.endswith("]")
        if plain and is_number(self.function, name, raw) == is_number(self.function, name, kind):
            return printed([labels], [kind])[0]
        require_types(self.function, [name], {name: raw}, self.by_fold)
        return labels

    @cached_property
    def entries(self) -> dict[str, pa.Array]:
        """The entries of all classes, by folded name."""
        inside = self.lists.flatten()
        return {
            fold(field.name): inside.field(position) for position, field in enumerate(inside.type)
        }

    @cached_property
    def sizes(self) -> Ints:
        """The rows of each class."""
        ends = np.concatenate([[0], np.cumsum(integers(self.lists.value_lengths()))])
        sizes: Ints = np.diff(np.concatenate([[0], np.cumsum(self.counts)])[ends])
        return sizes

    @cached_property
    def class_of(self) -> Ints:
        """The class of each entry."""
        class_ids: Ints = np.repeat(np.arange(self.classes), integers(self.lists.value_lengths()))
        return class_ids

    @cached_property
    def counts(self) -> Ints:
        """The rows of each entry."""
        counts: Ints = integers(self.entries[HELPER + "count"]).astype(np.int64)
        return counts


@dataclass(frozen=True)
class Codes:
    """A column of the whole tuple.

    by_release: the number of the value in each entry of the classes, by number of each release that
    has the column. many: how many values there are. null: whether the first is NULL.
    """

    by_release: Mapping[int, Ints]
    many: int
    null: bool


@dataclass(frozen=True)
class Reading:
    """The people of a raw table, and several releases.

    codes: of each column of the whole tuple that a release has, by name.
    """

    function: str
    people: RawPeople
    releases: Sequence[ReleaseClasses]
    views: Sequence[View]
    names: Sequence[str]
    sensitive: Sequence[str]
    parts: Sequence[ReleaseInput]
    codes: Mapping[str, Codes]

    def rows(
        self, before: int, after: int
    ) -> tuple[tuple[ReleaseEntries, ReleaseEntries], list[Ints]]:
        """Return the whole tuples of two releases, of the columns that both have, and of each of
        their sensitive columns its value in each tuple."""
        columns = [name for name in self.parts[after].columns if name in self.parts[before].columns]
        either = [before, after]
        parts = [self.parts[release] for release in either]
        codes = [
            {release: self.codes[name].by_release[release] for release in either}
            for name in columns
        ]
        tuples, values = _combined(codes, either)
        shown = [
            ReleaseEntries(part.class_of, tuples[release], part.counts)
            for release, part in zip(either, parts, strict=True)
        ]
        sensitive = [v for name, v in zip(columns, values, strict=True) if name in self.sensitive]
        return (shown[0], shown[1]), sensitive


def read_releases(read_: Any, person_rows: Any, packed_parts: Any) -> Reading:
    """Return what a call of ``__anon_releases_read`` passes, or raise AnonError."""
    struct = one_array(read_)
    fields = {column.name: struct.field(position) for position, column in enumerate(struct.type)}
    stopping.belongs_to(first(fields["connection"]))
    function, parameter = first(fields["function"]), first(fields["parameter"])
    names = _names(function, parameter, first(fields["releases"]))
    types: dict[str, str] = first(fields["types"])
    scope = first(fields["call"])
    roles = roles_of(function, types, scope, first(fields["seen"]), names[0])
    require_any(function, roles.sensitive)
    packed = one_array(packed_parts)
    parts = [
        ReleaseInput(function, name, packed.field(position), roles)
        for position, name in enumerate(names)
    ]
    for part in parts:
        _require_bound(function, roles, scope, part.bound)
    codes = _codes(function, roles, parts)
    quasi = [name for name in roles.quasi if any(name in part.quasi for part in parts)]
    columns = columns_of(person_rows)
    person_ids = _id_of(function, columns, first(fields["id"]), types)
    values = {name: by_name(columns, name) for name in quasi}
    kinds = {name: types[name] for name in quasi}
    trees = rows_of(path_rows(fields["paths"]), kinds, first(fields["time_zone"]))
    counts = integers(columns[HELPER + "count"])
    covered = [part.read(kinds, values, counts, trees) for part in parts]
    codes_of = [
        next(column.codes for column in by_part if column is not None)
        for by_part in zip(*covered, strict=True)
    ]
    views, shown = _views(roles.sensitive, parts, codes)
    releases = [
        release_of(coverages, part.classes, tuples)
        for coverages, part, tuples in zip(covered, parts, shown, strict=True)
    ]
    people = _raw_people(ranked(codes_of), person_ids, counts)
    return Reading(function, people, releases, views, names, roles.sensitive, parts, codes)


def _names(function: str, parameter: str, value: Any) -> list[str]:
    names = list(value or [])
    most = MAX_RELEASES if parameter == "releases" else MAX_RELEASES - 1
    passed = names[MAX_RELEASES - most :]
    if not 0 < len(passed) <= most:
        rule = Parameter(parameter) + f" must be a list of 1 to {most} names"
        raise AnonError(function, rule, f"{len(passed)} names" if passed else None)
    if not all(isinstance(name, str) for name in names):
        rule = Parameter(parameter) + " must be a list of names"
        raise AnonError(function, rule, "NULL among them")
    return names


def _require_bound(
    function: str, roles: Roles, scope: Mapping[str, Any], bound: Sequence[str]
) -> None:
    """Raise AnonError unless the columns of the tuple are those picked when the call was bound."""
    kept = {fold(name) for name in roles.keep}
    require_bound(function, roles.sensitive, [name for name in bound if fold(name) not in kept])
    named_too = {fold(name) for name in as_names(scope["bound"]["keep"])}
    wanted = [n for n in roles.keep if roles.source[n] == "comment" or fold(n) in named_too]
    bound_keep = [name for name in bound if fold(name) in {fold(n) for n in wanted}]
    require_bound(function, wanted, bound_keep, "keep")


def _codes(function: str, roles: Roles, parts: Sequence[ReleaseInput]) -> dict[str, Codes]:
    """Number the values of each column of the tuple that a release has.

    Raises AnonError unless some release has each sensitive column, and all have a column in one
    type.
    """
    codes_by_column = {}
    for name in (*roles.sensitive, *roles.keep):
        releases_with = [release for release, part in enumerate(parts) if name in part.columns]
        if not releases_with:
            if name in roles.sensitive:
                raise AnonError(
                    function,
                    "a release must have every sensitive column",
                    f"no column called {name} in any",
                    did_you_mean(name, parts[0].types),
                )
            continue
        kinds = {parts[release].by_fold[fold(name)] for release in releases_with}
        if len(kinds) > 1:
            rule, got = f"the releases must have {name} in one type", " and ".join(sorted(kinds))
            raise AnonError(function, rule, got, "cast it")
        keys = [parts[release].entries[fold(KEY + name)] for release in releases_with]
        places, distinct_keys = ordered(pa.concat_arrays(keys))
        ends = np.cumsum([len(key) for key in keys])[:-1]
        null = len(distinct_keys) > 0 and distinct_keys[0].as_py() == NULL
        by_release = dict(zip(releases_with, np.split(places, ends), strict=True))
        codes_by_column[name] = Codes(by_release, len(distinct_keys), null)
    return codes_by_column


def _views(
    sensitive: Sequence[str], parts: Sequence[ReleaseInput], codes: Mapping[str, Codes]
) -> tuple[list[View], list[list[ReleasedTuples | None]]]:
    """Return the views of the sensitive columns, and what each release shows in each of them."""
    views: list[View] = []
    shown: list[list[ReleasedTuples | None]] = [[] for _ in parts]
    for column_number, name in enumerate(sensitive):
        column = codes[name]
        for columns in _column_sets([p.columns for p in parts if name in p.columns]):
            if name not in columns:
                continue
            having = [n for n, part in enumerate(parts) if columns <= set(part.columns)]
            kept = {n: column.by_release[n] >= int(column.null) for n in having}
            others = sorted(columns - {name})
            sensitive_codes = {n: column.by_release[n][kept[n]] - int(column.null) for n in having}
            other_codes = [{n: codes[o].by_release[n][kept[n]] for n in having} for o in others]
            tuples, values = _combined(
                [sensitive_codes, *other_codes], having, column.many - int(column.null)
            )
            views.append(View(column_number, values[0], column.many - int(column.null)))
            for n, part in enumerate(parts):
                shown[n].append(_shown(part, kept[n], tuples[n]) if n in tuples else None)
    return views, shown


def _column_sets(column_lists: Iterable[Sequence[str]]) -> list[frozenset[str]]:
    """Return the columns of each release, and those that several of them share, each set once."""
    column_sets: dict[frozenset[str], None] = {}
    for columns in column_lists:
        new = frozenset(columns)
        column_sets |= dict.fromkeys([new, *(new & earlier for earlier in column_sets)])
    return list(column_sets)


def _combined(
    columns: Sequence[Mapping[int, Ints]], parts: Sequence[int], many: int | None = None
) -> tuple[dict[int, Ints], list[Ints]]:
    """Number the tuples of columns: by part, of each entry; and of each column, its number in each
    tuple. many: how many values the first column has, if it alone is to number them."""
    listed = [np.concatenate([column[part] for part in parts]) for column in columns]
    code = listed[0]
    if len(listed) > 1 or many is None:
        code = np.unique(code, return_inverse=True)[1].reshape(-1)
        for other in listed[1:]:
            both = code * (int(other.max(initial=0)) + 1) + other
            code = np.unique(both, return_inverse=True)[1].reshape(-1)
        many = int(code.max(initial=-1)) + 1
        values = [np.zeros(many, dtype=np.int64) for _ in listed]
        for value, column in zip(values, listed, strict=True):
            value[code] = column
    else:
        values = [np.arange(many)]
    ends = np.cumsum([len(columns[0][part]) for part in parts])[:-1]
    return dict(zip(parts, np.split(code, ends), strict=True)), values


def _shown(part: ReleaseInput, kept: npt.NDArray[np.bool_], tuples: Ints) -> ReleasedTuples:
    starts = np.searchsorted(part.class_of[kept], np.arange(part.classes + 1))
    return ReleasedTuples(starts, tuples, part.counts[kept])


def _keys(sql_type: str, values: pa.Array) -> npt.NDArray[np.float64]:
    """Return values as numbers that can be compared, NaN for NULL."""
    return np.where(valid(values), approximate(sql_type, values), np.nan)


def _id_of(
    function: str, columns: Mapping[str, pa.Array], name: Any, types: Mapping[str, str]
) -> Ints | None:
    """Return the person of each group of rows, int64[n]; None if each row is a person."""
    if name is None:
        return None
    keys = {fold(n): v for n, v in named(columns, HELPER + "id_").items()}
    if not isinstance(name, str) or fold(name) not in map(fold, types):
        raise AnonError(
            function,
            Parameter("id" if function == NAME else "entity")
            + " must name a column of the raw table",
            f"'{name}'",
            did_you_mean(str(name), types),
        )
    places, distinct_keys = ordered(keys[fold(name)])
    if len(distinct_keys) and distinct_keys[0].as_py() == NULL:
        return places - 1
    return places


def _raw_people(ranks: Ranks, people: Ints | None, counts: Ints) -> RawPeople:
    """Return the people; those without an id are one each."""
    if people is None or not (people < 0).any():
        return persons(ranks, people, counts)
    unowned = people < 0
    times = np.where(unowned, counts, 1)
    owners = np.repeat(people, times)
    owners[owners < 0] = people.max() + 1 + np.arange(int((owners < 0).sum()))
    return persons(np.repeat(ranks, times, axis=1), owners, np.ones(len(owners), dtype=np.int64))
