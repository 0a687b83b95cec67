"""Check, read and generate hierarchies, as SQL calls them."""

import csv
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa

from anon_sql.core.arrow import first, lists, one_array, one_list, plain
from anon_sql.core.columns import is_number
from anon_sql.core.hierarchy import tree
from anon_sql.core.hierarchy.column import tree_rows, uncovered
from anon_sql.core.hierarchy.generated import PATH, by_periods, by_prefixes, by_widths
from anon_sql.core.hierarchy.tree import STAR, rows_of
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.hosts.duckdb.binding import types_of
from anon_sql.hosts.duckdb.registry import sql_type, udf
from anon_sql.hosts.duckdb.rows import path_rows

_FAULT = pa.struct([(name, pa.string()) for name in ("attribute", "fault", "name", "found")])
_CHECK = "check_hierarchy"


@udf(sql_type(pa.list_(_FAULT)))
def faults(types: Any, value_lists: Any, listed: Any, time_zone: Any) -> pa.Array:
    """Return one row per fault, column by column.

    value_lists: lists of the distinct values of columns; listed: the rows of the hierarchy.
    """
    paths, values_of = path_rows(listed), lists(value_lists)
    attributes = paths.field("attribute").unique().to_pylist() if paths is not None else []
    folded = {fold(name) for name in attributes if name is not None}
    named = {name: kind for name, kind in types_of(types).items() if fold(name) in folded}
    for name, kind in named.items():
        is_number(_CHECK, name, kind)
    fault_tuples = []
    for name, rows in rows_of(paths, named, first(time_zone)).items():
        values = values_of[name]
        if values is not None:
            missing = uncovered(named[name], values, rows)
            texts = sorted(map(str, missing.to_pylist()), key=str.encode)
            fault_tuples += [(name, "not covered", value, "no row") for value in texts]
        wrong = tree.read_paths(tree_rows(_CHECK, name, rows)).faults()
        fault_tuples += [(name, fault.fault, fault.name, fault.actual) for fault in wrong]
    rows = [dict(zip(_FAULT.names, row, strict=True)) for row in fault_tuples]
    return pa.array([rows], pa.list_(_FAULT))


_READ = "read_hierarchies"


@udf(sql_type(pa.list_(PATH)))
def rows_in_files(pattern: Any, names: Any, contents: Any) -> pa.Array:
    """The rows of all files; the first level above the value is 1.

    A path that holds the value alone gives it as its own label. Empty cells after the value are
    left out.
    """
    files = list(zip(first(names) or [], first(contents) or [], strict=True))
    if not files:
        glob = first(pattern)
        raise AnonError(_READ, "there must be a file to read", f"no file at {glob}")
    path_rows = []
    for name, content in files:
        attribute = PurePosixPath(name.replace("\\", "/")).name.partition(".")[0]
        path_rows += [{"attribute": attribute, **row} for row in _rows(attribute, content)]
    return pa.array([path_rows], pa.list_(PATH))


def _rows(attribute: str, content: bytes) -> Iterator[dict[str, Any]]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        raise AnonError(
            _READ,
            "a file must be UTF-8",
            f"something else in {attribute} at byte {wrong.start:,}",
            "convert it, for example with iconv -t UTF-8",
        ) from None
    for value, *above in _lines(attribute, text):
        labels = [cell for cell in above if cell] or [value]
        for level, label in enumerate(labels, 1):
            yield {"value": value, "level": level, "label": label}


def _lines(attribute: str, text: str) -> list[list[str]]:
    """The cells of every line that is not blank, by the separator that all of them have.

    If both separators fit, each clue must be true of the same one, and a clue that is true of both
    or of neither says nothing. Raises AnonError for a file that can be read in two ways.
    """
    parsed = [lines for separator in ";," if (lines := _parsed(text, separator))]
    if len(parsed) == 2:
        separators = {clues.index(True) for clues in _clues(parsed) if sum(clues) == 1}
        if len(separators) != 1:
            raise AnonError(
                _READ,
                "a file must be written with one separator, semicolons or commas",
                f"{attribute} with both in every line",
                "a cell that holds a comma or a semicolon must stand in double quotes",
            )
        return parsed[separators.pop()]
    if parsed:
        return parsed[0]
    raise AnonError(
        _READ,
        "every line of a file must hold a value and the labels above it, separated by semicolons "
        "or commas",
        f"{attribute} with a line that does not" if text.strip() else f"nothing in {attribute}",
        "a cell that holds the separator or a line break must stand in double quotes",
    )


def _clues(readings: Sequence[list[list[str]]]) -> Iterator[list[bool]]:
    """Yield, for each clue, of which readings of a file it is true."""
    roots = [{next(filter(None, reversed(line))) for line in lines} for lines in readings]
    yield [all('"' not in cell for line in lines for cell in line) for lines in readings]
    yield [root == {STAR} for root in roots]
    yield [len(root) == 1 for root in roots]
    yield [len({len(line) for line in lines}) == 1 for lines in readings]


def _parsed(text: str, separator: str) -> list[list[str]] | None:
    """None where the separator does not fit."""
    before = csv.field_size_limit(max(len(text), 1 << 17))
    try:
        lines = list(csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error:
        return None
    finally:
        csv.field_size_limit(before)
    lines = [line for line in lines if any(line)]
    return lines if lines and all(len(line) > 1 for line in lines) else None


_PATHS = sql_type(pa.list_(PATH))


@udf(_PATHS)
def ranges(types: Any, value_lists: Any, column: Any, widths: Any, kind: Any) -> pa.Array:
    """The rows of ``numeric_hierarchy``; kind: the SQL type of the widths."""
    sql_type, values = _column("numeric_hierarchy", types, value_lists, column)
    item = first(kind).removesuffix("[]")
    return one_list(by_widths(first(column), sql_type, values, _items(widths), item), PATH)


@udf(_PATHS)
def periods(types: Any, value_lists: Any, column: Any, levels: Any) -> pa.Array:
    """The rows of ``date_hierarchy``."""
    sql_type, values = _column("date_hierarchy", types, value_lists, column)
    return one_list(by_periods(first(column), sql_type, values, first(levels)), PATH)


@udf(_PATHS)
def prefixes(types: Any, value_lists: Any, column: Any, lengths: Any) -> pa.Array:
    """The rows of ``prefix_hierarchy``."""
    sql_type, values = _column("prefix_hierarchy", types, value_lists, column)
    return one_list(by_prefixes(first(column), sql_type, values, _items(lengths)), PATH)


def _column(function: str, types: Any, value_lists: Any, column: Any) -> tuple[str, pa.Array]:
    """The SQL type and the distinct values of the column that a call names, or an AnonError."""
    kinds, wanted = types_of(types), first(column)
    names_by_fold = {fold(name): name for name in kinds}
    if not isinstance(wanted, str) or fold(wanted) not in names_by_fold:
        got = f"'{wanted}'" if isinstance(wanted, str) else None
        rule, hint = "the hierarchy must be for a column of the table", None
        if isinstance(wanted, str):
            hint = did_you_mean(wanted, kinds)
        raise AnonError(function, rule, got, hint)
    name = names_by_fold[fold(wanted)]
    values = one_array(value_lists).field(name)[0]
    kind = values.type.value_type
    return kinds[name], plain(values.values) if values.is_valid else plain(pa.array([], kind))


def _items(argument: Any) -> pa.Array:
    """The items of a list; none for another value."""
    listed = argument[0]
    is_list = pa.types.is_list(listed.type) or pa.types.is_large_list(listed.type)
    return listed.values if is_list and listed.is_valid else pa.array([], pa.int32())
