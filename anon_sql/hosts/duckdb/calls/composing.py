"""``composition`` as SQL calls it: the persons and the classes of each release in, counts out."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.attacks.composed import Persons, Ranks, Release, persons, ranked, release
from anon_sql.attacks.composition import COMPOSED, composition
from anon_sql.core import interrupt
from anon_sql.core.arrow import first, integers, whole
from anon_sql.core.hierarchy.rows import rows_of
from anon_sql.core.labels.coverage import Ints
from anon_sql.core.options import Number, Whole
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.hosts.duckdb.calls.binding import HELPER
from anon_sql.hosts.duckdb.calls.column_lists import by_name, columns_of, listed
from anon_sql.hosts.duckdb.calls.released_classes import (
    NAME,
    Part,
    require_alike,
    shown_values,
)
from anon_sql.hosts.duckdb.calls.taking import given_paths, named
from anon_sql.hosts.duckdb.measuring import require_bound, roles_of
from anon_sql.hosts.duckdb.registry import sql_type, udf
from anon_sql.measures.pair import require_any
from anon_sql.measures.spread import NULL, ordered

_MOST = 12  # releases, as the macro binds them
_ROWS = pa.list_(COMPOSED)


@udf("__anon_composition", sql_type(_ROWS))
def composed(call: Any, person_rows: Any, parts: Any) -> pa.Array:
    """Return the counts of ``composition``, or raise AnonError."""
    interrupt.begin()
    given = {field.name: whole(call).field(at) for at, field in enumerate(whole(call).type)}
    names = _names(first(given["releases"]))
    least = Whole(1).read(NAME, "l", first(given["l"]))
    share = Number(0, 1).read(NAME, "share", first(given["share"]))
    types: dict[str, str] = first(given["types"])
    roles = roles_of(NAME, types, first(given["call"]), first(given["seen"]), names[0])
    require_any(NAME, roles.sensitive)
    slots = whole(parts)
    held = [Part(name, slots.field(at), roles) for at, name in enumerate(names)]
    for one in held:
        require_bound(NAME, roles.sensitive, list(one.bound))
    require_alike(roles.sensitive, held)
    quasi = [name for name in roles.quasi if any(name in one.quasi for one in held)]
    columns = columns_of(person_rows)
    people = _id_of(columns, first(given["id"]), types)
    values = {name: by_name(columns, name) for name in quasi}
    kinds = {name: types[name] for name in quasi}
    trees = rows_of(given_paths(given["paths"]), kinds, first(given["time_zone"]))
    counts = integers(columns[HELPER + "count"])
    read = [one.read(kinds, values, counts, trees) for one in held]
    codes = [next(one.codes for one in of if one is not None) for of in zip(*read, strict=True)]
    shown, sizes = shown_values(roles.sensitive, held)
    releases: list[Release] = [
        release(of, one.classes, by) for of, one, by in zip(read, held, shown, strict=True)
    ]
    known = _persons(ranked(codes), people, counts)
    sensitive = list(zip(roles.sensitive, sizes, strict=True))
    return listed(composition(NAME, known, releases, names, sensitive, least, share))


def _names(given: Any) -> list[str]:
    names = list(given or [])
    if not 0 < len(names) <= _MOST:
        rule = f"releases must be a list of 1 to {_MOST} names"
        raise AnonError(NAME, rule, f"{len(names)} names" if names else "none")
    if not all(isinstance(name, str) for name in names):
        raise AnonError(NAME, "releases must be a list of names", "NULL among them")
    return names


def _id_of(columns: Mapping[str, pa.Array], given: Any, types: Mapping[str, str]) -> Ints | None:
    """Return the person of each group of rows, int64[n]; None if each row is a person."""
    if given is None:
        return None
    keys = {fold(n): v for n, v in named(columns, HELPER + "id_").items()}
    if not isinstance(given, str) or fold(given) not in map(fold, types):
        raise AnonError(
            NAME,
            "id must name a column of the raw table",
            f"'{given}'",
            did_you_mean(str(given), types),
        )
    places, known = ordered(keys[fold(given)])
    if len(known) and known[0].as_py() == NULL:
        return places - 1
    return places


def _persons(ranks: Ranks, people: Ints | None, counts: Ints) -> Persons:
    """Return the persons; those without an id are one each."""
    if people is None or not (people < 0).any():
        return persons(ranks, people, counts)
    nobody = people < 0
    times = np.where(nobody, counts, 1)
    of = np.repeat(people, times)
    of[of < 0] = people.max() + 1 + np.arange(int((of < 0).sum()))
    return persons(np.repeat(ranks, times, axis=1), of, np.ones(len(of), dtype=np.int64))
