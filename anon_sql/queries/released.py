"""The released rows as a reader sees them, and between which numbers an answer must lie."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core import stopping
from anon_sql.core.arrow import integers, valid
from anon_sql.core.labels.reading import read_ranges, read_sets
from anon_sql.core.printing import printed
from anon_sql.core.roles import fold
from anon_sql.pipeline.compute import Release
from anon_sql.queries.axis import Axis, Bools, Matches, Quasi, read_labels
from anon_sql.queries.query import KEPT, Block, Formula, Query, Workload, blocks

Answer = tuple[float | None, float | None, float | None]  # estimate, lower, upper


@dataclass(frozen=True)
class Rows:
    """ReleasedAnswer rows, alike ones merged: how many (count), the share that matches, whether all
    certainly or possibly do, the kept column's value (NaN for NULL)."""

    count: npt.NDArray[np.float64]
    share: npt.NDArray[np.float64]
    must: npt.NDArray[np.bool_]
    may: npt.NDArray[np.bool_]
    value: npt.NDArray[np.float64]
    dropped_share: npt.NDArray[np.float64]  # of the rows left out, were they like these

    def only(self, kept: npt.NDArray[Any]) -> "Rows":
        return Rows(
            self.count[kept],
            self.share[kept],
            self.must[kept],
            self.may[kept],
            self.value[kept],
            self.dropped_share[kept],
        )


@dataclass(frozen=True)
class Dropped:
    """Rows that the release leaves out. count: how many that possibly match; must: whether they
    certainly do; each: how many of them stand behind one released row in the estimate; least,
    most: the kept column's range in the raw table, NaN where it has none."""

    count: int
    must: bool
    each: float
    least: float
    most: float


def count(rows: Rows, dropped: Dropped) -> Answer:
    estimate = float(rows.count @ (rows.share + dropped.each * rows.dropped_share))
    lower = float(rows.count @ rows.must) + (dropped.count if dropped.must else 0)
    return estimate, lower, float(rows.count @ rows.may) + dropped.count


def total(rows: Rows, dropped: Dropped) -> Answer:
    """sum: rows that possibly match count where they lower or raise it. NULL where none may."""
    if not rows.may.any() and not dropped.count:
        return None, None, None
    value = np.nan_to_num(rows.value)
    weight = rows.count * (rows.share + dropped.each * rows.dropped_share)
    certain = float((rows.count * value)[rows.must].sum())
    maybe = (rows.count * value)[rows.may & ~rows.must]
    lower, upper = certain + maybe.clip(max=0).sum(), certain + maybe.clip(min=0).sum()
    if dropped.count:
        least, most = dropped.least, dropped.most
        if not dropped.must:
            least, most = min(least, 0.0), max(most, 0.0)
        lower, upper = lower + dropped.count * least, upper + dropped.count * most
    return float(weight @ value), _known(lower), _known(upper)


def mean(rows: Rows, dropped: Dropped) -> Answer:
    """avg: the certain rows with those of the possible ones that pull it furthest."""
    weight = rows.count * (rows.share + dropped.each * rows.dropped_share)
    value = np.nan_to_num(rows.value)
    estimate = float(weight @ value / weight.sum()) if weight.sum() > 0 else None
    return (
        estimate,
        _pulled(rows, dropped, dropped.least, 1.0),
        _pulled(rows, dropped, dropped.most, -1.0),
    )


def _pulled(rows: Rows, dropped: Dropped, end: float, sign: float) -> float | None:
    """The least mean, or with sign -1 the largest."""
    size, value = float(rows.count[rows.must].sum()), sign * np.nan_to_num(rows.value)
    total = float((rows.count * value)[rows.must].sum())
    maybe = rows.may & ~rows.must
    values, sizes = value[maybe], rows.count[maybe]
    if dropped.count and dropped.must:
        size, total = size + dropped.count, total + dropped.count * sign * end
    elif dropped.count:
        values, sizes = np.append(values, sign * end), np.append(sizes, dropped.count)
    order = np.argsort(values)
    totals = total + np.concatenate(([0.0], np.cumsum((values * sizes)[order])))
    counts = size + np.concatenate(([0.0], np.cumsum(sizes[order])))
    means = totals[counts > 0] / counts[counts > 0]
    return _known(sign * float(means.min())) if len(means) else None


def least(rows: Rows, dropped: Dropped) -> Answer:
    """min: estimated at what it is on average, given that a row matches."""
    return _extreme(rows, dropped, dropped.least, dropped.most, 1.0)


def most(rows: Rows, dropped: Dropped) -> Answer:
    """max."""
    estimate, upper, lower = _extreme(rows, dropped, dropped.most, dropped.least, -1.0)
    return estimate, lower, upper


def _extreme(rows: Rows, dropped: Dropped, near: float, far: float, sign: float) -> Answer:
    """Of values times sign: the expected minimum, its smallest and its largest possible value."""
    maybe, certain = sign * rows.value[rows.may], sign * rows.value[rows.must]
    if dropped.count:
        maybe = np.append(maybe, [sign * near, sign * far])
        certain = np.append(certain, [sign * far] if dropped.must else [])
    if not len(maybe):
        return None, None, None
    best, worst = float(maybe.min()), float(certain.min() if len(certain) else maybe.max())
    likely = rows.only(np.flatnonzero(rows.share > 0))
    order = np.argsort(sign * likely.value)
    missed = np.cumprod((1 - likely.share[order].clip(max=1.0)) ** likely.count[order])
    first = np.concatenate(([1.0], missed[:-1])) - missed
    estimate = float(first @ likely.value[order] / first.sum()) if first.sum() > 0 else None
    return estimate, _known(sign * best), _known(sign * worst)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


AGGREGATES = {"count": count, "sum": total, "avg": mean, "min": least, "max": most}


Ints = npt.NDArray[np.int64]


def distinct(labels: pa.Array) -> tuple[pa.Array, Ints]:
    """Return labels, structs or lists once each, in an order that the rows' has no part in, and the
    place of each row's, int64[n]."""
    if pa.types.is_list(labels.type) or pa.types.is_large_list(labels.type):
        rows = [None if words is None else tuple(words) for words in labels.to_pylist()]
        known = sorted(set(rows), key=lambda words: (words is None, words or ()))
        place_of = {words: place for place, words in enumerate(known)}
        codes = np.array([place_of[words] for words in rows], dtype=np.int64)
        return pa.array(known, labels.type), codes
    if not pa.types.is_struct(labels.type):
        found = _ranked(labels)
    else:
        low, high = (_ranked(pc.struct_field(labels, end)) for end in ("min", "max"))
        found = low * (int(high.max(initial=0)) + 1) + high
        found = np.where(valid(labels), found, int(found.max(initial=0)) + 1)
    _, first, codes = np.unique(found, return_index=True, return_inverse=True)
    return labels.take(pa.array(first)), codes


def _ranked(values: pa.Array) -> Ints:
    """Numbers in the order of the values, NULL last."""
    coded = values.dictionary_encode()
    words = coded.dictionary
    if pa.types.is_dictionary(values.type):
        words = words.cast(pa.string())
    rank = np.empty(len(words) + 1, dtype=np.int64)
    rank[integers(pc.sort_indices(words))] = np.arange(len(words))
    rank[-1] = len(words)
    places = coded.indices.fill_null(len(words)).to_numpy(zero_copy_only=False)
    ranked: Ints = rank[places]
    return ranked


def released_classes(made: Release) -> tuple[dict[str, pa.Array], npt.NDArray[np.int64]]:
    """Return the labels of each class by quasi-identifier, and the class of each released row,
    int64[r]; classes with equal labels are one."""
    classes = np.unique(made.class_of)
    coded = {
        name: distinct(labels.printed.take(pa.array(labels.label_of[classes].astype(np.int64))))
        for name, labels in made.labels.items()
    }
    codes = np.column_stack([codes for _, codes in coded.values()])
    known, of_class = np.unique(codes, axis=0, return_inverse=True)
    labels = {
        name: column.take(pa.array(known[:, at]))
        for at, (name, (column, _)) in enumerate(coded.items())
    }
    return labels, of_class.reshape(-1)[np.searchsorted(classes, made.class_of)]


@dataclass(frozen=True)
class Least:
    """truth: bool[L, m], of the conditions on the least value of each label."""

    truth: Bools

    def matches(self, at: int) -> Matches:
        """What each label makes of a condition: it holds or it does not."""
        found = self.truth[:, at]
        return found.astype(np.float64), found, found

    def everything(self, at: int) -> tuple[float, bool, bool]:
        """What a row that the release leaves out makes of a condition: nothing."""
        return 0.0, False, False


def least_values(quasi: Quasi, labels: pa.Array) -> Least:
    """Return the truth of a number's minimum, of a text's only value, and else of the label as it
    stands (of NULL where the column's type has no place for it)."""
    column = quasi.domain
    if column.tree is None:
        if column.number:
            return Least(quasi.truth(read_ranges(column.sql_type, labels).low, column.sql_type))
        return Least(_of_sets(quasi, read_sets(labels).words, labels))
    leaves, below, _ = read_labels(quasi, column.tree, labels)
    if column.number:
        places = pa.array([places[0] if places else None for places in below], pa.int64())
        return Least(quasi.truth(leaves.values.take(places), column.sql_type))
    return Least(_of_sets(quasi, [[leaves.words[at] for at in places] for places in below], labels))


def _of_sets(quasi: Quasi, sets: Sequence[Sequence[str] | None], labels: pa.Array) -> Bools:
    stands: list[str | None] = [None] * len(sets)
    if quasi.word_type == "VARCHAR":
        stands = printed([labels], ["VARCHAR"])[0].to_pylist()
    return quasi.word_truth(
        [
            words[0] if words is not None and len(words) == 1 else text
            for words, text in zip(sets, stands, strict=True)
        ]
    )


_ROUNDING = 1e-12  # of the sum of what is added: DuckDB adds in another order
Keys = tuple[str | None, ...]
Answers = Mapping[tuple[int, Keys], float | None]  # by query and values of GROUP BY


@dataclass(frozen=True)
class AnswerGroups:
    """G groups of released rows that are alike to every query.

    rows: float64[G], how many; codes: int64[G] by folded quasi-identifier, the label; truths:
    bool[G, m], the conditions on kept columns; keys: text of the columns that queries group by,
    empty where none does; numbers: float64[G, c], those that they aggregate, NaN for NULL.
    """

    rows: npt.NDArray[np.float64]
    codes: Mapping[str, npt.NDArray[np.int64]]
    truths: npt.NDArray[np.bool_]
    keys: Sequence[Sequence[str | None]]
    numbers: npt.NDArray[np.float64]

    def ordered(self) -> "AnswerGroups":
        """The same in an order that does not depend on that of the threads that sent them."""
        by = [self.rows, *self.numbers.T, *np.packbits(self.truths, axis=1).T, *self.codes.values()]
        order = np.lexsort(by)
        return AnswerGroups(
            self.rows[order],
            {name: codes[order] for name, codes in self.codes.items()},
            self.truths[order],
            [self.keys[at] for at in order] if self.keys else [],
            self.numbers[order],
        )


class ReleasedAnswer:
    """The released rows and what every condition makes of them."""

    def __init__(
        self,
        work: Workload,
        groups: AnswerGroups,
        axes: Mapping[str, Axis | Least],
        dropped: int,
        ranges: Mapping[str, Mapping[str, Any]],
    ):
        """axes: by folded name; dropped: rows that the release leaves out; ranges: of each kept
        column of numbers."""
        self.work, self.axes, self.dropped, self.ranges = work, axes, dropped, ranges
        self.groups = groups.ordered()
        self.rows = self.groups.rows
        self.at = {
            owner: {sql: at for at, sql in enumerate(listed)}
            for owner, listed in work.truths.items()
        }
        self.matches: dict[tuple[str, int], Matches] = {}
        self.members: dict[tuple[str, ...], dict[Keys, npt.NDArray[np.int64]]] = {}

    def found(self, actual: Answers) -> Iterator[tuple[int, Keys, Answer]]:
        """The query, values of GROUP BY and answer of each row of the result."""
        answered: dict[int, list[Keys]] = {}
        for at, keys in actual:
            answered.setdefault(at, []).append(keys)
        for at, (query, tree) in enumerate(zip(self.work.queries, self.work.formulas, strict=True)):
            stopping.check()
            rows, dropped = self._rows(query, tree)
            of = AGGREGATES[query.aggregate]
            if not query.groups:
                answer = self._checked(query, rows, of(rows, dropped), actual.get((at, ())))
                if not len(self.rows):
                    answer = (self._unseen(query, tree), *answer[1:])
                yield at, (), answer
                continue
            apart = Dropped(dropped.count, False, dropped.each, dropped.least, dropped.most)
            members = self._members(tuple(map(fold, query.groups)))
            none = np.zeros(0, dtype=np.int64)
            for keys in sorted({*members, *answered.get(at, [])}, key=by_keys):
                part = rows.only(members.get(keys, none))
                if (at, keys) in actual or part.may.any():
                    said = actual.get((at, keys))
                    yield at, keys, self._checked(query, part, of(part, apart), said)

    def _unseen(self, query: Query, tree: Formula) -> float | None:
        """The estimate where the release has no row at all: only a count may have one."""
        if query.column is not None or any(block.owner == KEPT for block in blocks(tree)):
            return None
        return self.dropped * float(self._of(tree, self._star)[0])

    def _checked(self, query: Query, rows: Rows, answer: Answer, actual: float | None) -> Answer:
        """Bounds that miss the answer by no more than rounding are the answer."""
        estimate, lower, upper = answer
        if not len(self.rows):
            estimate = None
        if actual is not None and query.aggregate in ("sum", "avg"):
            size = float((rows.count * np.abs(np.nan_to_num(rows.value))).sum()) + abs(actual)
            if query.aggregate == "avg":
                size /= max(float(rows.count.sum()), 1.0)
            lower = (
                actual if lower is not None and 0 < lower - actual <= _ROUNDING * size else lower
            )
            upper = (
                actual if upper is not None and 0 < actual - upper <= _ROUNDING * size else upper
            )
        return estimate, lower, upper

    def _rows(self, query: Query, tree: Formula) -> tuple[Rows, Dropped]:
        total = len(self.rows)
        share, must, may = self._of(tree, self._block)
        star, star_must, star_may = self._of(tree, self._star)
        column = fold(query.column or "")
        valued = query.aggregate != "count"
        numbers = self.groups.numbers
        value = numbers[:, self.work.numbers.index(column)] if valued else np.zeros(total)
        one = self.ranges.get(column, {}) if valued else {}
        ends = [np.nan if one.get(end) is None else one[end] for end in ("least", "most")]
        rows = Rows(
            self.rows,
            np.broadcast_to(share, total),
            np.broadcast_to(must, total),
            np.broadcast_to(may, total),
            value,
            np.broadcast_to(star, total),
        )
        released = float(self.rows.sum())
        each = self.dropped / released if released else 0.0
        count = self.dropped if np.any(star_may) else 0
        return rows, Dropped(count, bool(np.all(star_must)), each, *ends)

    def _of(self, tree: Formula, leaf: Any) -> Any:
        """AND and OR of parts, as if the columns were independent of each other."""
        if isinstance(tree, Block):
            return leaf(tree)
        parts = [self._of(part, leaf) for part in tree.parts]
        if not parts:
            return np.float64(1), np.bool_(True), np.bool_(True)
        share, must, may = parts[0] if tree.every else (1 - parts[0][0], *parts[0][1:])
        for other, certain, possible in parts[1:]:
            if tree.every:
                share, must, may = share * other, must & certain, may & possible
            else:
                share, must, may = share * (1 - other), must | certain, may | possible
        return (share if tree.every else 1 - share), must, may

    def _block(self, block: Block) -> Any:
        at = self.at[block.owner][block.sql]
        if block.owner == KEPT:
            truth = self.groups.truths[:, at]
            return truth.astype(np.float64), truth, truth
        if (block.owner, at) not in self.matches:
            self.matches[block.owner, at] = self.axes[block.owner].matches(at)
        codes = self.groups.codes[block.owner]
        share, must, may = self.matches[block.owner, at]
        return share[codes], must[codes], may[codes]

    def _star(self, block: Block) -> Any:
        """Of a row that is left out: anything in its quasi-identifiers, and for the estimate
        the kept values of a row that is shown."""
        at = self.at[block.owner][block.sql]
        if block.owner == KEPT:
            return self.groups.truths[:, at].astype(np.float64), np.bool_(False), np.bool_(True)
        share, must, may = self.axes[block.owner].everything(at)
        return np.float64(share), np.bool_(must), np.bool_(may)

    def _members(self, columns: tuple[str, ...]) -> dict[Keys, npt.NDArray[np.int64]]:
        if columns not in self.members:
            places = [self.work.groups.index(column) for column in columns]
            found: dict[Keys, list[int]] = {}
            for at, keys in enumerate(self.groups.keys):
                found.setdefault(tuple(keys[place] for place in places), []).append(at)
            self.members[columns] = {keys: np.array(rows) for keys, rows in found.items()}
        return self.members[columns]


def by_keys(keys: Sequence[str | None]) -> list[tuple[bool, str]]:
    """The order of values of GROUP BY: NULL last."""
    return [(key is None, key or "") for key in keys]
