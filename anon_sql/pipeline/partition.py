"""Partition rows into classes that satisfy every constraint."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql import methods
from anon_sql.core import compiling, interrupt
from anon_sql.core.arrow import integers, valid
from anon_sql.core.constraints import Constraint, Sensitive, constraint
from anon_sql.core.hierarchy.rows import rows_of
from anon_sql.core.labels.one_value import FORMS
from anon_sql.core.table import QuasiTable, read
from anon_sql.core.table_domain import Domain
from anon_sql.core.weights import relative
from anon_sql.core.workers import Workers
from anon_sql.methods.parts.joining import accompany_suppressed, dense, place_suppressed
from anon_sql.methods.parts.protecting import protect
from anon_sql.pipeline.earlier_bins import in_earlier_bins
from anon_sql.pipeline.request import Request
from anon_sql.pipeline.source import Source
from anon_sql.pipeline.strata import by_stratum, require_strata, strata_of

Classes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Prepared:
    """The input of a method.

    table: the quasi-identifiers in canonical order. call: the arguments of the method. trees: the
    rows of the hierarchy by column. domain: of the whole table, None if these are all of its rows.
    """

    table: QuasiTable
    call: methods.Call
    method: methods.Method
    trees: Mapping[str, pa.StructArray]
    domain: Domain | None = None


def prepare(
    source: Source,
    request: Request,
    paths: pa.StructArray | None,
    domain: Domain | None = None,
) -> Prepared:
    """Convert the columns of a source to the input of the method that the request names.

    paths: the rows of the hierarchy, as for ``rows_of``. domain: of the whole table, if the source
    has a part of its rows. Raises AnonError for values that labels cannot represent, and if the
    rows together do not satisfy the constraints.
    """
    function = request.function
    interrupt.begin()
    compiling.announce()
    trees = rows_of(paths, request.quasi, request.time_zone)
    workers = Workers(function, request.threads)
    table = read(
        function,
        request.quasi,
        source.quasi,
        source.hashes,
        workers,
        trees,
        domain,
        relative(request.weights, list(request.quasi)),
    )
    table = in_earlier_bins(table, request, source)
    real = None if source.real is None else source.real[table.order]
    counted = table.order if real is None else table.order[real]
    limits = constraint_of(source, request, paths, counted, domain)
    limits.require(function, len(counted), part=domain is not None)
    method = methods.find(function)
    given = _given_classes(source, table)
    call = methods.Call(
        function,
        limits,
        request.seed,
        workers,
        request.options,
        given,
        real,
        strata_of(table, request.strata),
        fixed=request.strata,
        shown=request.suppressed == "keep",
        one_value=request.format in FORMS,
        rows=table.rows if domain is None else domain.rows,
    )
    require_strata(call, table.rows)
    return Prepared(table, call, method, trees, domain)


def partition(prepared: Prepared, mode: str) -> tuple[Classes, Classes | None]:
    """Return the class of each row, int32[n], and the nodes that the method chose, int32[n, d].

    Rows are in source order; suppressed rows have class -1; nodes are None if the method chose
    none. mode: 'keep' or 'drop', the treatment of suppressed rows.
    """
    return run(prepared.table, prepared.call, prepared.method, mode)


def run(
    table: QuasiTable, call: methods.Call, method: methods.Method, mode: str
) -> tuple[Classes, Classes | None]:
    """Return the same as ``partition``."""
    return placed(table, settled(table, call, method, mode))


def placed(table: QuasiTable, found: methods.Partition) -> tuple[Classes, Classes | None]:
    """Return the classes and nodes of a partition in source order; see ``partition``."""
    nodes = None if found.nodes is None else as_came(table, found.nodes)
    return as_came(table, found.classes), nodes


def settled(
    table: QuasiTable, call: methods.Call, method: methods.Method, mode: str
) -> methods.Partition:
    """Return the partition that the method finds, with every class legal.

    In the mode 'keep', suppressed rows form a class too, which must be legal. Without any
    constraint, every row is its own class, numbered by its place in the source.
    """
    asked = call.constraint.k > 1 or call.constraint.rules is not None or call.real is not None
    asked = asked or call.options.get("like") is not None
    if not asked and not method.given:
        return methods.Partition(table.order)

    def settle(table: QuasiTable, call: methods.Call) -> methods.Partition:
        found: methods.Partition = method.run(table, call)
        if found.nodes is not None:
            own = accompany_suppressed(found.classes, call.constraint, mode)
            return replace(found, classes=own)
        placed = place_suppressed(table, found.classes, call.constraint, mode, call.workers)
        return replace(found, classes=protect(table, placed, call.constraint, call.workers))

    return settle(table, call) if method.across_strata else by_stratum(table, call, settle)


def as_came(table: QuasiTable, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return values that are in canonical order, rearranged to source order."""
    result = np.empty_like(values)
    result[table.order] = values
    return result


def constraint_of(
    source: Source,
    request: Request,
    paths: pa.StructArray | None,
    rows: npt.NDArray[np.int32] | None = None,
    domain: Domain | None = None,
) -> Constraint:
    """Return the constraint on the classes of the rows at positions int32[m], or of all rows.

    t uses the equal distance for a sensitive column that has NULLs or a hierarchy: it is an upper
    bound of the hierarchical distance. domain: of the whole table, which t compares with.
    """
    named = rows_of(paths, dict.fromkeys(request.protected, "VARCHAR"), request.time_zone)
    found = []
    for name, ordered in request.protected.items():
        if domain is None:
            codes, known, nulls = _codes(source.keys[name], rows)
            found.append(Sensitive(name, codes, known, ordered and not nulls and name not in named))
        else:
            codes = _table_codes(request.function, name, source.keys[name], rows, domain)
            found.append(in_table(name, codes, domain, ordered and name not in named))
    persons = None
    if request.entity is not None:
        persons, _, _ = _codes(source.keys[request.entity], rows)
    return constraint(request.k, found, persons, **request.limits)


def _codes(
    keys: pa.Array, rows: npt.NDArray[np.int32] | None
) -> tuple[npt.NDArray[np.int32], int, bool]:
    """Return the codes of sort keys, the number of distinct values, and whether there are NULLs.

    Codes are in the order of the keys; NULL (the empty key) is last and not counted as a value.
    rows: int32[m], the positions whose codes are returned; None for all.
    """
    coded = keys if pa.types.is_dictionary(keys.type) else keys.dictionary_encode()
    words = coded.dictionary
    sorted_ = integers(pc.sort_indices(words))
    first = words[int(sorted_[0])].as_py() if len(words) else b"-"
    nulls = len(first) == 0
    rank = np.empty(len(words), np.int32)
    rank[sorted_] = np.arange(len(words), dtype=np.int32) - nulls
    rank[rank < 0] = len(words) - 1
    codes = rank[integers(coded.indices.cast(pa.int32()))]
    return (codes if rows is None else codes[rows]), len(words) - nulls, nulls


def _table_codes(
    function: str,
    name: str,
    keys: pa.Array,
    rows: npt.NDArray[np.int32] | None,
    domain: Domain,
) -> npt.NDArray[np.int32]:
    """Return the codes of sort keys in the order of the values of the whole table."""
    coded = keys if pa.types.is_dictionary(keys.type) else keys.dictionary_encode()
    codes = domain.codes(function, name, coded.dictionary)
    at: npt.NDArray[np.int32] = integers(coded.indices)
    return codes.take(at if rows is None else at[rows])


def in_table(name: str, codes: npt.NDArray[np.int32], domain: Domain, ordered: bool) -> Sensitive:
    """Return a sensitive column whose distribution is that of the whole table.

    codes: int32[n], as ``Domain.codes`` returns them. ordered: whether t may use the ordered
    distance, which NULLs rule out.
    """
    held = domain.sensitive[name]
    known = len(held.keys) - held.nulls
    counts = np.roll(held.counts, -1) if held.nulls else np.append(held.counts, 0)
    return Sensitive(name, codes, known, ordered and not held.nulls, counts)


def _given_classes(source: Source, table: QuasiTable) -> Classes | None:
    """Return the class ids that come with the table, in canonical order; -1 for NULL."""
    coded = source.classes
    if coded is None:
        return None
    if not pa.types.is_dictionary(coded.type):
        coded = coded.dictionary_encode()
    ids = np.where(valid(coded), integers(coded.indices.cast(pa.int32())), -1)
    return dense(ids[table.order].astype(np.int32))
