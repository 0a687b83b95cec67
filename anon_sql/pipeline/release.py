"""Compute a release: the order, the classes and the labels of the released rows."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.labels.check import printed_alike, require_true
from anon_sql.core.labels.make import Classes, Labels, make_labels
from anon_sql.core.table_domain import Domain
from anon_sql.errors import AnonError
from anon_sql.pipeline.alike import merge_alike
from anon_sql.pipeline.earlier_bins import require_earlier
from anon_sql.pipeline.left_out import require_asked
from anon_sql.pipeline.partition import Prepared, as_came, constraint_of, partition, prepare
from anon_sql.pipeline.request import Request
from anon_sql.pipeline.source import Source

Codes = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Release:
    """The r rows of a release.

    position: int32[r], the position in the source of each released row, from 0. class_of: int32[r],
    its class. labels: labels of every class, by name of the quasi-identifier. suppressed: bool[n],
    the rows of the table that are suppressed, shown or left out.
    """

    position: Codes
    class_of: Codes
    labels: dict[str, Labels]
    suppressed: Bools


def release(
    source: Source,
    request: Request,
    paths: pa.StructArray | None = None,
    domain: Domain | None = None,
) -> Release:
    """Return a release of the source's rows, after verifying its printed labels.

    Rows are partitioned into classes that satisfy k, l and t. Labels are printed in the requested
    format and parsed again: every value must lie in its label, and the groups of rows with equal
    printed labels must satisfy k, l and t. Classes with equal labels form one group; if it is not
    legal, it is merged with others and labels are made anew. ``left_out`` says which rows are
    suppressed, and how many of them may be left out.

    The rows are ordered by a hash of their labels, and within a group by ``source.hashes``, so the
    release does not reveal the order of the source. paths: the rows of the hierarchy. domain: of
    the whole table, if the source has a part of its rows. Raises AnonError if the request cannot be
    satisfied or a check fails; nothing is released then.
    """
    prepared = prepare(source, request, paths, domain)
    parted = partition(prepared, request.suppressed)
    return labelled(prepared, parted, source, request, paths)


def labelled(
    prepared: Prepared,
    parted: tuple[Codes, Codes | None],
    source: Source,
    request: Request,
    paths: pa.StructArray | None,
) -> Release:
    """Return the release of a partition, which is as ``partition`` returns it; see ``release``."""
    columns, types = prepared.table.columns, list(request.quasi.values())
    values = [source.quasi[name] for name in request.quasi]
    workers = prepared.call.workers
    again: tuple[Codes, Codes | None] | None = parted
    asked = parted[0] < 0
    while again is not None:
        of_row, nodes = again
        classes = _classes(of_row, source.real)
        labels = make_labels(
            request.function,
            columns,
            types,
            values,
            classes,
            nodes,
            workers,
            form=request.format,
            centred=request.centred,
        )
        starred = require_true(
            request.function,
            columns,
            types,
            values,
            labels,
            classes.of_row,
            len(classes.starts) - 1,
            workers,
            form=request.format,
            centred=request.centred,
        )
        group_of, dropped = _groups(request, printed_alike(labels), starred)
        again = merge_alike(prepared, group_of[of_row], dropped, nodes)
    row_group = group_of[of_row]
    suppressed = np.isin(row_group, group_of[starred])
    require_asked(request, suppressed, asked, prepared.domain)
    require_earlier(request, labels)
    _require_legal(source, request, paths, prepared.domain, row_group, dropped)
    _require_strata(prepared, row_group, group_of[starred])
    position = _ordered(row_group, source.hashes.to_numpy(zero_copy_only=False), dropped)
    shown = dict(zip(request.quasi, labels, strict=True))
    return Release(position, of_row[position], shown, suppressed)


def _classes(of_row: Codes, real: npt.NDArray[np.bool_] | None) -> Classes:
    """Return the classes, with the suppressed rows (-1) as the last one.

    real: bool[n], the rows that are counted, None for all. Modifies ``of_row`` in place.
    """
    from anon_sql.kernels.hash.grouping import group

    count = int(of_row.max()) + 1
    suppressed = bool((of_row < 0).any())
    total = count + suppressed
    of_row[of_row < 0] = count
    if real is None:
        order, starts = group(of_row, total)
        return Classes(of_row, order, starts, suppressed)
    counted = np.where(real, of_row, np.int32(total))
    order, starts = group(counted, total + 1)
    return Classes(counted, order[: starts[total]], starts[: total + 1], suppressed)


def _groups(
    request: Request, printed: npt.NDArray[np.uint64], starred: npt.NDArray[np.bool_]
) -> tuple[Codes, npt.NDArray[np.bool_]]:
    """Return the group of each class, int32[m], and which groups are left out of the release.

    Classes with equal hashes of their labels, ``printed``, form a group.
    """
    _, inverse = np.unique(printed, return_inverse=True)
    group_of = inverse.astype(np.int32)
    dropped = np.zeros(int(group_of.max()) + 1, dtype=np.bool_)
    if request.suppressed == "drop":
        dropped[group_of[starred]] = True
    return group_of, dropped


def _require_strata(prepared: Prepared, group_of: Codes, starred: Codes) -> None:
    """Raise AnonError if a group of rows with equal labels crosses strata.

    group_of: int32[n], the group of each row. starred: the groups of suppressed rows.
    """
    call = prepared.call
    if call.strata is None:
        return
    strata = as_came(prepared.table, call.strata)
    first = np.empty(int(group_of.max()) + 1, np.int32)
    first[group_of] = strata
    crossing = np.setdiff1d(group_of[strata != first[group_of]], starred)
    if len(crossing):
        raise AnonError(
            call.function,
            "no class of labels may cross strata",
            f"{len(crossing)} that {'does' if len(crossing) == 1 else 'do'}",
            "nothing was released; please report this",
        )


def _require_legal(
    source: Source,
    request: Request,
    paths: pa.StructArray | None,
    domain: Domain | None,
    row_group: Codes,
    dropped: npt.NDArray[np.bool_],
) -> None:
    """Raise AnonError for a group that is not legal; row_group: int32[n], the group of each row."""
    groups = len(dropped)
    counted = None if source.real is None else np.flatnonzero(source.real).astype(np.int32)
    limits = constraint_of(source, request, paths, counted, domain)
    own = row_group if counted is None else row_group[counted]
    illegal = int((~limits.legal(own, groups) & ~dropped).sum())
    if illegal:
        raise AnonError(
            request.function,
            f"every class of labels must {limits.promise}",
            f"{illegal} that {'does' if illegal == 1 else 'do'} not",
            "nothing was released; please report this",
        )


def _ordered(
    row_group: Codes, hashes: npt.NDArray[np.uint64], dropped: npt.NDArray[np.bool_]
) -> Codes:
    """Return the released rows in their order, int32[r]; row_group: int32[n], of each row."""
    from anon_sql.kernels.hash import grouping

    order, starts = grouping.group(row_group, len(dropped))
    arranged: Codes = grouping.arrange(order, starts, hashes)
    return arranged[~dropped[row_group[arranged]]] if dropped.any() else arranged
