"""Prepare the rows of a call, find a partition of them within strata, and make its classes legal.

A class is legal if it satisfies k, l, t, beta and delta.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import integers, valid
from anon_sql.core.bin_width import Bins, cut, refuse_bins
from anon_sql.core.columns import Numbers
from anon_sql.core.common_parameters import relative
from anon_sql.core.hierarchy.generated import binned
from anon_sql.core.hierarchy.tree import rows_of
from anon_sql.core.labels.grammar import STAR
from anon_sql.core.labels.types import AVERAGES
from anon_sql.core.labels.writing import Labels
from anon_sql.core.ordered import Ordered
from anon_sql.core.running import Workers, announce
from anon_sql.core.table import Column, Domain, QuasiTable, read_table
from anon_sql.errors import AnonError, Argument, Parameter, listed
from anon_sql.methods.full_domain import Earlier
from anon_sql.methods.legal_classes import protect
from anon_sql.methods.method import Call, Method, Partition
from anon_sql.methods.suppressed_rows import accompany_suppressed, dense, place_suppressed
from anon_sql.methods.transparent import of_least_size, transparent_partition
from anon_sql.pipeline.request import Request, Source
from anon_sql.privacy.constraint import Constraint, Sensitive, constraint

Ids = npt.NDArray[np.int32]
Positions = npt.NDArray[np.int64]
HINT = "leave a column out of " + Parameter("strata") + ", or round its values first"


def strata_of(table: QuasiTable, names: Sequence[str]) -> Ids | None:
    """Return the stratum of each row in canonical order, int32[n]; None if no column is named."""
    stratum_of: Ids | None = None
    for column in table.columns:
        if column.name not in names:
            continue
        if isinstance(column, Numbers):
            ranks = np.unique(column.keys, return_inverse=True)[1].reshape(-1) + 1
            values = np.where(column.present, ranks, 0).astype(np.int64)
        else:
            values = column.codes.astype(np.int64)
        keys = values[table.order]
        if stratum_of is not None:
            keys += stratum_of * (keys.max(initial=0) + 1)
        stratum_of = np.unique(keys, return_inverse=True)[1].reshape(-1).astype(np.int32)
    return stratum_of


def each_stratum(call: Call[Any], rows: int) -> Iterator[tuple[Positions, Call[Any]]]:
    """Yield the positions of the rows of each stratum, int64[m], with the call for them."""
    if call.strata is None:
        yield np.arange(rows), call
        return
    order = np.argsort(call.strata, kind="stable")
    ends = np.cumsum(np.bincount(call.strata))
    for rows_of_stratum in np.split(order, ends[:-1]):
        yield (
            rows_of_stratum,
            replace(call, constraint=call.constraint.only(rows_of_stratum), strata=None),
        )


def require_strata(call: Call[Any], rows: int) -> None:
    """Raise AnonError, with the number of rows, if a stratum cannot be a class."""
    if call.strata is None:
        return
    short = [
        len(stratum)
        for stratum, part in each_stratum(call, rows)
        if not part.constraint.allows(np.arange(len(stratum)))
    ]
    if short:
        raise refused(call.function, call.constraint.requirement, len(short), min(short))


def refused(function: str, requirement: str, count: int, smallest: int) -> AnonError:
    """Return the error for strata that cannot be classes.

    requirement: of the constraint.
    count: number of these strata.
    smallest: rows of the smallest one.
    """
    return AnonError(
        function,
        f"every stratum must {requirement}",
        f"{count} that {'does' if count == 1 else 'do'} not, the smallest of "
        f"{smallest} row{'' if smallest == 1 else 's'}",
        HINT,
    )


def by_stratum(
    table: QuasiTable, call: Call[Any], partition: Callable[[QuasiTable, Call[Any]], Partition]
) -> Partition:
    """Return the partitions of the strata together; ``partition`` makes that of one of them.

    Statistics are added up.
    """
    if call.strata is None:
        return partition(table, call)
    classes, nodes = np.full(table.rows, -1, np.int32), None
    first_id = 0
    stats: dict[str, float] = {}
    for stratum, part in each_stratum(call, table.rows):
        partitioned = partition(table.only(stratum), part)
        classes[stratum] = np.where(partitioned.classes < 0, -1, partitioned.classes + first_id)
        first_id += int(partitioned.classes.max()) + 1
        if partitioned.nodes is not None:
            nodes = np.empty((table.rows, len(table.columns)), np.int32) if nodes is None else nodes
            nodes[stratum] = partitioned.nodes
        for name, value in partitioned.stats.items():
            stats[name] = stats.get(name, 0) + value
    return Partition(classes, stats, nodes)


def in_earlier_bins(table: QuasiTable, request: Request, source: Source) -> QuasiTable:
    """Return the table with the labels of the release that ``like`` names as nodes.

    Only columns of numbers without a hierarchy are changed. Raises AnonError for a release whose
    labels cannot be bins.
    """
    earlier = request.option("like")
    if not isinstance(earlier, Earlier):
        return table
    if request.ordered:
        raise AnonError(
            request.function,
            Parameter("like") + " must go without " + Parameter("ordered"),
            "both",
            "pass a hierarchy for " + listed(request.ordered),
        )
    labels = earlier.of(request.function, list(request.quasi))

    def with_bins(column: Column) -> Column:
        earlier_labels = labels[column.name].labels
        if not isinstance(column, Numbers) or not earlier_labels or STAR in earlier_labels:
            return column
        name, kind = column.name, request.quasi[column.name]
        return binned(request.function, name, kind, source.quasi[name], earlier_labels)

    return replace(table, columns=tuple(with_bins(column) for column in table.columns))


def require_earlier(request: Request, labels: Sequence[Labels]) -> None:
    """Raise AnonError for a label that is not in the release that ``like`` names.

    The label of suppressed rows is allowed.

    labels: of each quasi-identifier, as text.
    """
    earlier = request.option("like")
    if not isinstance(earlier, Earlier) or request.typed or request.format in AVERAGES:
        return
    earlier_labels = earlier.of(request.function, list(request.quasi))
    for name, written in zip(request.quasi, labels, strict=True):
        allowed = {
            *earlier_labels[name].labels,
            STAR,
            *([None] if earlier_labels[name].null else []),
        }
        used = written.printed.take(pa.array(np.unique(written.label_of)))
        others = len(set(used.to_pylist()) - allowed)
        if others:
            raise AnonError(
                request.function,
                "every label must be one of " + Parameter("like"),
                f"{others} of {listed([name])} that {'is' if others == 1 else 'are'} not",
                "nothing was released; please report this",
            )


Classes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Prepared:
    """The rows of a request as its method takes them.

    source, request, paths: the arguments of ``prepare``.
    table: the quasi-identifiers in canonical order.
    call: the arguments of the method.
    trees: the rows of the hierarchy by column.
    domain: of the whole table, None if these are all of its rows.
    cuts: the bins of the columns whose values are cut, of which the table has the first values.
    """

    source: Source
    request: Request
    paths: pa.StructArray | None
    table: QuasiTable
    call: Call[Any]
    trees: Mapping[str, pa.StructArray]
    domain: Domain | None = None
    cuts: Mapping[str, Bins] = field(default_factory=dict)


def prepare(
    source: Source,
    request: Request,
    paths: pa.StructArray | None,
    domain: Domain | None = None,
) -> Prepared:
    """Convert the columns of a source to the input of the method that the request names.

    Raises AnonError for values that labels cannot represent, and if the rows together do not
    satisfy the constraints.

    paths: the rows of the hierarchy, as for ``rows_of``.
    domain: of the whole table, if the source has a part of its rows.
    """
    function = request.function
    if request.transparent and request.ties is None:
        rule = "a transparent release must have a key"
        raise AnonError(function, rule, None, "please report this")
    if request.rest:
        rule = "columns that only * releases must be looked at before"
        raise AnonError(function, rule, "some that were not", "please report this")
    announce()
    trees = rows_of(paths, request.quasi, request.time_zone)
    workers = Workers(function, request.threads)
    cuts = cut_columns(source, request, trees, domain)
    table = read_table(
        function,
        request.quasi,
        {**source.quasi, **{name: bins.low for name, bins in cuts.items()}},
        source.hashes,
        workers,
        trees,
        domain,
        relative(request.weights, list(request.quasi)),
        request.ties,
        request.ordered,
    )
    _require_shown(request, table)
    table = in_earlier_bins(table, request, source)
    real = None if source.real is None else source.real[table.order]
    counted = table.order if real is None else table.order[real]
    limits = constraint_of(source, request, paths, counted, domain)
    limits.require(function, len(counted), part=domain is not None)
    classes = _classes_of(source, table)
    call = Call(
        function,
        limits,
        request.seed,
        workers,
        request.options,
        classes,
        real,
        strata_of(table, request.strata),
        fixed=request.strata,
        suppressed_released=request.suppressed == "keep",
        one_value=request.format in AVERAGES,
        rows=table.rows if domain is None else domain.rows,
        secret=request.ties if request.transparent else None,
        by_size=request.transparent_by == "size",
    )
    require_strata(call, table.rows)
    return Prepared(source, request, paths, table, call, trees, domain, cuts)


def _require_shown(request: Request, table: QuasiTable) -> None:
    """Raise AnonError for a format that cannot show the ranges of ordered categories."""
    ordered = [column.name for column in table.columns if isinstance(column, Ordered)]
    if ordered and request.typed:
        raise AnonError(
            request.function,
            Argument("format", "typed") + " shows no ranges of ordered categories",
            listed(ordered),
            "use " + Argument("format", "label"),
        )


def cut_columns(
    source: Source,
    request: Request,
    trees: Mapping[str, pa.StructArray],
    domain: Domain | None,
) -> dict[str, Bins]:
    """Return the bins of the columns that ``bin_width`` names.

    trees, domain: as in ``Prepared``. Raises AnonError for columns with a hierarchy, for an earlier
    release, and for a part of a table, whose rows were divided by their own values.
    """
    function = request.function
    if not request.bin_width:
        return {}
    if named := [name for name in request.bin_width if name in trees]:
        refuse_bins(function, "apply to columns without a hierarchy", listed(named))
    if request.option("like") is not None:
        refuse_bins(function, "be left out with " + Parameter("like"), "both")
    if domain is not None:
        refuse_in_parts(request)
    return {
        name: cut(function, name, request.quasi[name], source.quasi[name], step)
        for name, step in request.bin_width.items()
    }


def refuse_in_parts(request: Request) -> None:
    """Raise AnonError for a release in parts of what needs the whole table in one statement."""
    if request.bin_width:
        refuse_bins(request.function, "be left out of a release in parts", "them")
    if request.ordered:
        raise AnonError(
            request.function,
            Parameter("ordered") + " must be left out of a release in parts",
            listed(request.ordered),
            "release the whole table in one statement, or pass a hierarchy for the column",
        )
    if request.transparent:
        raise AnonError(
            request.function,
            Parameter("transparent") + " must be left out of a release in parts",
            "true",
            "release the whole table in one statement",
        )


def legal_partition(table: QuasiTable, call: Call[Any], method: Method | None) -> Partition:
    """Return the method's partition, with every class legal, in canonical order.

    Suppressed rows have class -1; if they are released, they are a class that is legal too. Without
    any constraint, every row is its own class, numbered by its place in the source.
    """
    assert method is not None
    is_constrained = (
        call.constraint.k > 1 or call.constraint.rules is not None or call.real is not None
    )
    is_constrained = is_constrained or getattr(call.options, "like", None) is not None
    if not is_constrained and not method.takes_classes:
        return Partition(table.order)

    def plain(table: QuasiTable, call: Call[Any]) -> Ids:
        return legal_partition(table, call, method).classes

    def find_legal(table: QuasiTable, call: Call[Any]) -> Partition:
        if call.secret is not None and call.constraint.rules is not None:
            by = of_least_size if call.by_size else transparent_partition
            return by(table, call, plain)
        return make_legal(table, call, find_partition(table, call, method))

    if method.across_strata:
        return find_legal(table, call)
    return by_stratum(table, call, find_legal)


def find_partition(table: QuasiTable, call: Call[Any], method: Method) -> Partition:
    """Return the method's partition, whose classes need not be legal."""
    return method.run(table, call)


def make_legal(table: QuasiTable, call: Call[Any], partition: Partition) -> Partition:
    """Return a partition with every class legal.

    If the method chose nodes, which no further row may change, rows are suppressed; else classes
    are merged.
    """
    limits, workers = call.constraint, call.workers
    if partition.nodes is not None:
        return replace(
            partition,
            classes=accompany_suppressed(partition.classes, limits, call.suppressed_released),
        )
    placed = place_suppressed(
        table, partition.classes, limits, workers, released=call.suppressed_released
    )
    return replace(partition, classes=protect(table, placed, limits, workers))


def in_source_order(table: QuasiTable, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return values that are in canonical order, rearranged to source order."""
    result = np.empty_like(values)
    result[table.order] = values
    return result


def classes_and_nodes(table: QuasiTable, partition: Partition) -> tuple[Classes, Classes | None]:
    """Return the class of each row, int32[n], and the nodes of its labels, int32[n, d], or None.

    Both are in source order. Nodes are None if the method chose none.
    """
    nodes = None if partition.nodes is None else in_source_order(table, partition.nodes)
    return in_source_order(table, partition.classes), nodes


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
    sensitive = []
    for name, ordered in request.protected.items():
        if domain is None:
            codes, non_null, nulls = _codes(source.keys[name], rows)
            sensitive.append(
                Sensitive(name, codes, non_null, ordered and not nulls and name not in named)
            )
        else:
            codes = _table_codes(request.function, name, source.keys[name], rows, domain)
            sensitive.append(in_table(name, codes, domain, ordered and name not in named))
    persons = None
    if request.entity is not None:
        persons, _, _ = _codes(source.keys[request.entity], rows)
    return constraint(request.k, sensitive, persons, request.models)


class _KeyCodes(NamedTuple):
    """codes: of sort keys, NULL last. non_null: number of distinct values that are not NULL. nulls:
    whether NULL occurs."""

    codes: npt.NDArray[np.int32]
    non_null: int
    nulls: bool


def _codes(keys: pa.Array, rows: npt.NDArray[np.int32] | None) -> _KeyCodes:
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
    return _KeyCodes(codes if rows is None else codes[rows], len(words) - nulls, nulls)


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
    index: npt.NDArray[np.int32] = integers(coded.indices)
    return codes.take(index if rows is None else index[rows])


def in_table(name: str, codes: npt.NDArray[np.int32], domain: Domain, ordered: bool) -> Sensitive:
    """Return a sensitive column whose distribution is that of the whole table.

    codes: int32[n], as ``Domain.codes`` returns them.
    ordered: whether t may use the ordered distance, which NULLs rule out.
    """
    of_table = domain.sensitive[name]
    non_null = len(of_table.keys) - of_table.nulls
    counts = np.roll(of_table.counts, -1) if of_table.nulls else np.append(of_table.counts, 0)
    return Sensitive(name, codes, non_null, ordered and not of_table.nulls, counts)


def _classes_of(source: Source, table: QuasiTable) -> Classes | None:
    """Return the class ids that come with the table, in canonical order; -1 for NULL."""
    coded = source.classes
    if coded is None:
        return None
    if not pa.types.is_dictionary(coded.type):
        coded = coded.dictionary_encode()
    ids = np.where(valid(coded), integers(coded.indices.cast(pa.int32())), -1)
    return dense(ids[table.order].astype(np.int32))
