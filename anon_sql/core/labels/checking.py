"""Verify printed labels: parse each one and require that it covers the values of its class."""

from collections.abc import Collection, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql import kernels
from anon_sql.core.arrow import integers, valid
from anon_sql.core.columns import Categories, Numbers, comparable, is_number
from anon_sql.core.hierarchy.column import Hierarchical
from anon_sql.core.labels import grammar
from anon_sql.core.labels.one_value import middles, misplaced
from anon_sql.core.labels.reading import Ranges, read_columns, read_ranges, read_sets
from anon_sql.core.labels.types import is_one_value
from anon_sql.core.labels.writing import Labels, allowed_leaves
from anon_sql.core.ordered import Ordered
from anon_sql.core.printing import cast
from anon_sql.core.running import Workers
from anon_sql.core.table import Column
from anon_sql.errors import AnonError

Codes = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


def require_true(
    function: str,
    columns: Sequence[Column],
    types: Sequence[str],
    values: Sequence[pa.Array],
    labels: Sequence[Labels],
    classes: Codes,
    count: int,
    workers: Workers,
    *,
    form: str,
    centred: bool,
) -> Bools:
    """Require that every value lies in its label; return the suppressed classes, bool[m].

    A class is suppressed if its label is ``*`` in every column. values: of each column, in source
    order; classes: int32[n], the class of each row, m = ``count`` or more for a row that is not
    counted. form: the format; a mean or median is computed again. centred: labels of numbers are
    single values near the mean and are not checked. Raises AnonError for a class without a label,
    and for values outside their labels, with their count.
    """
    for column, made in zip(columns, labels, strict=True):
        chosen = made.label_of
        if len(chosen) != count or chosen.min() < 0 or chosen.max() >= len(made.printed):
            raise AnonError(
                function,
                "every class must have a label that was printed",
                f"one without in {column.name}",
                "nothing was released; please report this",
            )
    single = [
        is_one_value(function, column.name, kind, form)
        for column, kind in zip(columns, types, strict=True)
    ]
    ranged = [
        i
        for i, column in enumerate(columns)
        if isinstance(column, Numbers) and not isinstance(column, Ordered) and not single[i]
    ]
    ranges = read_columns([types[i] for i in ranged], [labels[i].printed for i in ranged])
    parsed = dict(zip(ranged, ranges, strict=True))
    jobs = [
        (
            column,
            types[i],
            values[i],
            labels[i],
            classes,
            parsed.get(i),
            centred,
            form if is_single else None,
        )
        for i, (column, is_single) in enumerate(zip(columns, single, strict=True))
    ]
    suppressed = np.ones(count, dtype=np.bool_)
    results = workers.map(_wrong, jobs, [len(classes)] * len(jobs))
    for column, made, (star, wrong) in zip(columns, labels, results, strict=True):
        if wrong:
            raise AnonError(
                function,
                "every value must lie in its label",
                f"{wrong} values of {column.name} that do not",
                "nothing was released; please report this",
            )
        suppressed &= star[made.label_of]
    return suppressed


def midpoints(
    function: str,
    columns: Sequence[Column],
    types: Sequence[str],
    labels: Sequence[Labels],
    classes: Codes,
    hierarchies: Collection[str],
) -> tuple[list[Labels], Bools]:
    """Return the labels in the format 'midpoint', and the suppressed classes, bool[m].

    labels: in the format 'label', as ``require_true`` has checked them. The result is computed from
    them alone, so it discloses no more. A range becomes its middle, a single value itself, and a
    set, a node, ``*`` or NULL becomes NULL. A class is suppressed if it shows NULL in every column.
    classes: int32[n], as for ``require_true``. hierarchies: the columns with a hierarchy. Raises
    AnonError for a false middle, and for a text that a row of its class lacks.
    """
    shown_labels = []
    for column, kind, made in zip(columns, types, labels, strict=True):
        number = is_number(function, column.name, kind)
        if number:
            low, high = _ends(column, kind, made.printed, column.name in hierarchies)
            texts, wrong = middles(kind, low, high)
        else:
            texts, wrong = pa.array(_single_words(column, made.printed), pa.string()), 0
        coded = texts.dictionary_encode(null_encoding="encode")  # one NULL for all
        places = integers(coded.indices).astype(np.int32)
        shown = Labels(coded.dictionary, places[made.label_of])
        shown_labels.append(shown)
        if wrong := wrong if number else _others(column, shown, classes):
            raise AnonError(
                function,
                "every midpoint must be that of its label",
                f"{wrong} of {column.name} that {'is' if wrong == 1 else 'are'} not",
                "nothing was released; please report this",
            )
    null = [~valid(made.printed)[made.label_of] for made in shown_labels]
    return shown_labels, np.asarray(np.logical_and.reduce(null))


def _ends(column: Column, kind: str, printed: pa.Array, of_nodes: bool) -> tuple[pa.Array, ...]:
    """Return the ends of labels of numbers, NULL for ``*``, NULLs and the nodes of a hierarchy."""
    if of_nodes:
        (values,) = cast([pa.array(_single_words(column, printed), pa.string())], [kind])
        return values, values
    parsed = read_ranges(kind, printed)
    return parsed.low, parsed.high


def _single_words(column: Column, printed: pa.Array) -> list[str | None]:
    """Return the text that a label consists of; None for any other label."""
    if isinstance(column, Hierarchical):
        tree = column.tree
        nodes = [tree.node_of.get(label, tree.root) for label in printed.to_pylist()]
        return [tree.names[node] if node < tree.leaves else None for node in nodes]
    return [words[0] if words and len(words) == 1 else None for words in read_sets(printed).words]


def _others(column: Column, shown: Labels, classes: Codes) -> int:
    """Count the rows whose class shows a text that is not the row's value."""
    assert isinstance(column, Categories | Hierarchical | Ordered)
    if isinstance(column, Hierarchical):
        values: Sequence[str] = column.tree.names[: column.tree.leaves]
    else:
        values = _words_of(column)
    code_of = {value: code for code, value in enumerate(values)}
    all_codes = range(column.null_code + 1)
    texts = shown.printed.to_pylist()
    return _outside(
        column, shown, classes, [all_codes if text is None else [code_of[text]] for text in texts]
    )


def _outside(
    column: Categories | Hierarchical | Ordered,
    labels: Labels,
    classes: Codes,
    allowed: Sequence[Sequence[int]],
) -> int:
    """Return how many rows have a code that their label does not allow; allowed: ascending."""
    ends = np.cumsum([0, *map(len, allowed)]).astype(np.int64)
    flat = np.fromiter(chain.from_iterable(allowed), np.int32, int(ends[-1]))
    return int(kernels.loss.outside_set(classes, labels.label_of, column.codes, ends, flat))


def printed_hashes(labels: Sequence[Labels]) -> npt.NDArray[np.uint64]:
    """Return a hash of the printed labels of each class, uint64[m]. Nothing else enters it."""
    hashes = np.zeros(len(labels[0].label_of), dtype=np.uint64)
    for made in labels:
        coded = _printed(made.printed).dictionary_encode()
        order = integers(pc.sort_indices(coded.dictionary))
        rank = np.empty(len(order) + 1, dtype=np.int64)
        rank[order], rank[-1] = np.arange(len(order)), -1
        codes = rank[coded.indices.fill_null(len(order)).to_numpy(zero_copy_only=False)]
        hashes = kernels.hashing.mix(hashes, codes[made.label_of])
    return hashes


def _printed(labels: pa.Array) -> pa.Array:
    """Return one string per label; strings are equal if and only if labels are. NULL for NULL."""
    if pa.types.is_struct(labels.type):
        ends = [pc.coalesce(labels.field(end), "NULL") for end in ("min", "max")]
        return pc.if_else(labels.is_valid(), pc.binary_join_element_wise(*ends, ", "), None)
    if pa.types.is_list(labels.type):
        lists = labels.to_pylist()
        texts = [None if x is None else ", ".join(map(grammar.text, x)) for x in lists]
        return pa.array(texts, pa.string())
    return labels


def _wrong(
    column: Column,
    sql_type: str,
    values: pa.Array,
    labels: Labels,
    classes: Codes,
    parsed: Ranges | None,
    centred: bool,
    single: str | None,
) -> tuple[Bools, int]:
    """Return which labels are suppressed, bool[u], and how many values lie outside their labels.

    single: 'mean' or 'median' if the labels are such values, else None.
    """
    if single is not None:
        return misplaced(sql_type, values, labels.printed, labels.label_of, classes, single)
    if parsed is not None:
        if centred:
            return parsed.star, 0
        counted = classes < len(labels.label_of)
        if not counted.all():
            values, classes = values.filter(pa.array(counted)), classes[counted]
        keys, low, high = comparable(sql_type, [values, parsed.low, parsed.high])
        of_row = labels.label_of[classes]
        wrong = kernels.loss.outside_range(
            of_row, parsed.star, valid(values), keys, valid(parsed.low), low, high
        )
        return parsed.star, wrong + int(parsed.malformed[of_row].sum())
    if isinstance(column, Hierarchical):
        star, allowed = allowed_leaves(column, labels.printed)
    else:
        assert isinstance(column, Categories | Ordered)
        star, allowed = _allowed_words(column, labels.printed)
        if centred and isinstance(column, Ordered):
            return star, 0
    return star, _outside(column, labels, classes, allowed)


def _words_of(column: Categories | Ordered) -> Sequence[str]:
    """Return the value of each code of a column."""
    return column.words if isinstance(column, Ordered) else column.values.to_pylist()


def _allowed_words(
    column: Categories | Ordered, labels: pa.Array
) -> tuple[Bools, list[Sequence[int]]]:
    """Return which labels are suppressed, and the codes that each label covers, ascending."""
    values = _words_of(column)
    sets = read_sets(labels, values if isinstance(column, Ordered) else ())
    code_of = {value: code for code, value in enumerate(values)}
    allowed: list[Sequence[int]] = []
    for star, empty, words in zip(sets.star, sets.empty, sets.words, strict=True):
        if star:
            allowed.append(range(column.null_code + 1))
        elif empty:
            allowed.append([column.null_code])
        else:
            allowed.append(sorted(code_of[word] for word in words or () if word in code_of))
    return sets.star, allowed
