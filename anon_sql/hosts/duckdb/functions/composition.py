"""``composition``, and what ``audit`` says of earlier releases, as SQL calls them."""

from typing import Any

import pyarrow as pa

from anon_sql.attacks.composition import (
    ATTACK,
    COMPOSED,
    NAME,
    Composition,
    Covers,
    all_together,
    composition,
    intersected,
)
from anon_sql.audit.compared import ROW
from anon_sql.audit.earlier import EarlierChange, Intersected, earlier_properties
from anon_sql.core import stopping
from anon_sql.core.arrow import first
from anon_sql.core.parameters import read_group as read_options
from anon_sql.errors import AnonError, Parameter, RelationName
from anon_sql.hosts.duckdb.composing import Reading, read_releases
from anon_sql.hosts.duckdb.pair import as_rows
from anon_sql.hosts.duckdb.registry import sql_type, udf
from anon_sql.measures.differences import Change, Components, change

_COMPOSED_ROWS, _AUDIT_ROWS = pa.list_(COMPOSED), pa.list_(ROW)


@udf(sql_type(_COMPOSED_ROWS))
def counted(options: Any, read_once: Any, person_rows: Any, parts: Any) -> pa.Array:
    """Return the counts of ``composition``, or raise AnonError."""
    settings = read_options(Composition, NAME, first(options))
    reading = read_releases(read_once, person_rows, parts)
    return as_rows(
        composition(
            NAME,
            reading.people,
            reading.releases,
            reading.names,
            reading.views,
            reading.sensitive,
            settings.l,
            settings.share,
        )
    )


@udf(sql_type(_AUDIT_ROWS))
def properties(options: Any, read_once: Any, person_rows: Any, parts: Any) -> pa.Array:
    """Return the properties of an audit that are about earlier releases, or raise AnonError."""
    settings = first(options)
    reading = read_releases(read_once, person_rows, parts)
    _require_sensitive(reading)
    releases = reading.releases
    comparisons = [
        all_together(releases, reading.views, column) for column in range(len(reading.sensitive))
    ]
    components = [Components(earlier.star, releases[0].star) for earlier in releases[1:]]
    covers_somebody = [not release.star.size for release in releases]

    def seen(persons: int, covers: Covers) -> None:
        for number, (owner, _) in enumerate(covers):
            covers_somebody[number] |= len(owner) > 0
        for number, component in enumerate(components, start=1):
            component.connect(persons, covers[number], covers[0])

    results = intersected(
        reading.function, reading.people, releases, reading.views, comparisons, seen
    )
    for name, covers in zip(reading.names[1:], covers_somebody[1:], strict=True):
        if not covers:
            rule = Parameter("previous") + " must name releases of persons in the raw table"
            raise AnonError(
                reading.function, rule, "one that covers none of them, " + RelationName(name)
            )
    exposures = [
        Intersected(
            reading.sensitive[column], *counts.exposed(reading.people.weights, settings["l"])
        )
        for (column, _), counts in results.items()
    ]
    changes = [
        EarlierChange(name, _change(reading, number, components[number - 1], settings["l"]))
        for number, name in enumerate(reading.names[1:], start=1)
    ]
    rows = earlier_properties(
        exposures,
        ATTACK,
        changes,
        settings["l"],
        settings["share"],
        settings["synthetic"] > 0,
        settings["series"],
    )
    return as_rows(pa.Table.from_pylist([row.row() for row in rows], pa.schema(list(ROW))))


def _require_sensitive(reading: Reading) -> None:
    """Raise AnonError for an earlier release that shows no sensitive column."""
    for part in reading.parts:
        if not set(part.columns) & set(reading.sensitive):
            rule = "every earlier release must have a sensitive column"
            raise AnonError(reading.function, rule, "no such column in " + RelationName(part.name))


def _change(reading: Reading, number: int, components: Components, least: int) -> Change:
    stopping.check(reading.function)
    (before, after), values = reading.rows(number, 0)
    return change(components, before, after, values, least)
