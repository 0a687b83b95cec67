"""Answer queries on a release: the estimate, and bounds of the true answer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core import stopping
from anon_sql.core.arrow import integers, valid
from anon_sql.core.labels.reading import read_ranges, read_sets
from anon_sql.core.ordered import order_of
from anon_sql.core.printing import printed
from anon_sql.core.roles import fold
from anon_sql.pipeline.compute import Release
from anon_sql.queries.axis import Bools, ConditionAxis, DomainMatch, Matches, Quasi, read_labels
from anon_sql.queries.query import KEPT, Block, Formula, Query, Workload, blocks


class Answer(NamedTuple):
    """The estimated answer of a query, and bounds of the true one; None for NULL or no bound."""

    estimate: float | None
    lower: float | None
    upper: float | None


@dataclass(frozen=True)
class MatchingRows:
    """Groups of equal released rows, and how they match a query.

    count: rows per group. share: of the rows that match in the estimate. must, may: whether all
    rows certainly match, and whether they can. value: of the aggregated column, NaN for NULL.
    dropped_share: of the rows left out, if they were like these.
    """

    count: npt.NDArray[np.float64]
    share: npt.NDArray[np.float64]
    must: npt.NDArray[np.bool_]
    may: npt.NDArray[np.bool_]
    value: npt.NDArray[np.float64]
    dropped_share: npt.NDArray[np.float64]

    def only(self, kept: npt.NDArray[Any]) -> "MatchingRows":
        return MatchingRows(
            self.count[kept],
            self.share[kept],
            self.must[kept],
            self.may[kept],
            self.value[kept],
            self.dropped_share[kept],
        )


@dataclass(frozen=True)
class Dropped:
    """Rows that the release leaves out.

    count: the number that can match. must: whether they certainly match. per_row: their number per
    released row, for the estimate. least, most: the range of the aggregated column in the raw
    table, NaN if it has none.
    """

    count: int
    must: bool
    per_row: float
    least: float
    most: float


def count(rows: MatchingRows, dropped: Dropped) -> Answer:
    estimate = float(rows.count @ (rows.share + dropped.per_row * rows.dropped_share))
    lower = float(rows.count @ rows.must) + (dropped.count if dropped.must else 0)
    return Answer(estimate, lower, float(rows.count @ rows.may) + dropped.count)


def total(rows: MatchingRows, dropped: Dropped) -> Answer:
    """Return sum. Rows that may match count in a bound if they extend it. NULL if no row may."""
    if not rows.may.any() and not dropped.count:
        return Answer(None, None, None)
    value = np.nan_to_num(rows.value)
    weight = rows.count * (rows.share + dropped.per_row * rows.dropped_share)
    certain = float((rows.count * value)[rows.must].sum())
    maybe = (rows.count * value)[rows.may & ~rows.must]
    lower, upper = certain + maybe.clip(max=0).sum(), certain + maybe.clip(min=0).sum()
    if dropped.count:
        least, most = dropped.least, dropped.most
        if not dropped.must:
            least, most = min(least, 0.0), max(most, 0.0)
        lower, upper = lower + dropped.count * least, upper + dropped.count * most
    return Answer(float(weight @ value), _or_none(lower), _or_none(upper))


def mean(rows: MatchingRows, dropped: Dropped) -> Answer:
    """Return avg. Bounds are of the certain rows with those possible rows that move it furthest."""
    weight = rows.count * (rows.share + dropped.per_row * rows.dropped_share)
    value = np.nan_to_num(rows.value)
    estimate = float(weight @ value / weight.sum()) if weight.sum() > 0 else None
    return Answer(
        estimate,
        _pulled(rows, dropped, dropped.least, 1.0),
        _pulled(rows, dropped, dropped.most, -1.0),
    )


def _pulled(rows: MatchingRows, dropped: Dropped, end: float, sign: float) -> float | None:
    """Return the least possible mean, or with sign -1 the largest."""
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
    return _or_none(sign * float(means.min())) if len(means) else None


def least(rows: MatchingRows, dropped: Dropped) -> Answer:
    """Return min; the estimate is its expectation, given that a row matches."""
    return _extreme(rows, dropped, dropped.least, dropped.most, 1.0)


def most(rows: MatchingRows, dropped: Dropped) -> Answer:
    """Return max; the estimate is its expectation, given that a row matches."""
    estimate, upper, lower = _extreme(rows, dropped, dropped.most, dropped.least, -1.0)
    return Answer(estimate, lower, upper)


def _extreme(rows: MatchingRows, dropped: Dropped, near: float, far: float, sign: float) -> Answer:
    """Return the expected minimum of values times sign, its least and its largest possible
    value."""
    maybe, certain = sign * rows.value[rows.may], sign * rows.value[rows.must]
    if dropped.count:
        maybe = np.append(maybe, [sign * near, sign * far])
        certain = np.append(certain, [sign * far] if dropped.must else [])
    if not len(maybe):
        return Answer(None, None, None)
    best, worst = float(maybe.min()), float(certain.min() if len(certain) else maybe.max())
    likely = rows.only(np.flatnonzero(rows.share > 0))
    order = np.argsort(sign * likely.value)
    missed = np.cumprod((1 - likely.share[order].clip(max=1.0)) ** likely.count[order])
    first = np.concatenate(([1.0], missed[:-1])) - missed
    estimate = float(first @ likely.value[order] / first.sum()) if first.sum() > 0 else None
    return Answer(estimate, _or_none(sign * best), _or_none(sign * worst))


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


AGGREGATES = {"count": count, "sum": total, "avg": mean, "min": least, "max": most}


Ints = npt.NDArray[np.int64]


def distinct(labels: pa.Array) -> tuple[pa.Array, Ints]:
    """Return the distinct labels, structs or lists in an order that does not depend on the order of
    the rows, and the position of each row's, int64[n]."""
    if pa.types.is_list(labels.type) or pa.types.is_large_list(labels.type):
        rows = [None if words is None else tuple(words) for words in labels.to_pylist()]
        distinct_rows = sorted(set(rows), key=lambda words: (words is None, words or ()))
        place_of = {words: place for place, words in enumerate(distinct_rows)}
        codes = np.array([place_of[words] for words in rows], dtype=np.int64)
        return pa.array(distinct_rows, labels.type), codes
    if not pa.types.is_struct(labels.type):
        ranks = _ranked(labels)
    else:
        low, high = (_ranked(pc.struct_field(labels, end)) for end in ("min", "max"))
        ranks = low * (int(high.max(initial=0)) + 1) + high
        ranks = np.where(valid(labels), ranks, int(ranks.max(initial=0)) + 1)
    _, first, codes = np.unique(ranks, return_index=True, return_inverse=True)
    return labels.take(pa.array(first)), codes


def _ranked(values: pa.Array) -> Ints:
    """Return the dense rank of each value, NULL last."""
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
    distinct_codes, of_class = np.unique(codes, axis=0, return_inverse=True)
    labels = {
        name: column.take(pa.array(distinct_codes[:, i]))
        for i, (name, (column, _)) in enumerate(coded.items())
    }
    return labels, of_class.reshape(-1)[np.searchsorted(classes, made.class_of)]


@dataclass(frozen=True)
class LeastValues:
    """Labels by their least value. truth: bool[L, m], the conditions on it."""

    truth: Bools

    def matches(self, condition: int) -> Matches:
        """Return whether a condition holds for each label."""
        truth = self.truth[:, condition]
        return Matches(truth.astype(np.float64), truth, truth)

    def everything(self, condition: int) -> DomainMatch:
        """Return that a condition holds for no row that the release leaves out."""
        return DomainMatch(0.0, False, False)


def least_values(quasi: Quasi, labels: pa.Array) -> LeastValues:
    """Return the conditions on a number's minimum, on a text's only value, or otherwise on the text
    of the label (on NULL if the column's type cannot hold it)."""
    column = quasi.domain
    if column.tree is None:
        if column.number:
            return LeastValues(
                quasi.truth(read_ranges(column.sql_type, labels).low, column.sql_type)
            )
        sets = read_sets(labels, order_of(column.sql_type, column.words))
        return LeastValues(_of_sets(quasi, sets.words, labels))
    leaves, below, _ = read_labels(quasi, column.tree, labels)
    if column.number:
        places = pa.array([places[0] if places else None for places in below], pa.int64())
        return LeastValues(quasi.truth(leaves.values.take(places), column.sql_type))
    return LeastValues(
        _of_sets(quasi, [[leaves.words[place] for place in places] for places in below], labels)
    )


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
    """G groups of released rows that no query distinguishes.

    rows: float64[G], rows per group. codes: int64[G] by folded quasi-identifier, the label. truths:
    bool[G, m], the conditions on kept columns. keys: texts of the columns by which queries group,
    empty if there are none. numbers: float64[G, c], the aggregated columns, NaN for NULL.
    """

    rows: npt.NDArray[np.float64]
    codes: Mapping[str, npt.NDArray[np.int64]]
    truths: npt.NDArray[np.bool_]
    keys: Sequence[Sequence[str | None]]
    numbers: npt.NDArray[np.float64]

    def ordered(self) -> "AnswerGroups":
        """Return the groups in an order that does not depend on threads."""
        by = [self.rows, *self.numbers.T, *np.packbits(self.truths, axis=1).T, *self.codes.values()]
        order = np.lexsort(by)
        return AnswerGroups(
            self.rows[order],
            {name: codes[order] for name, codes in self.codes.items()},
            self.truths[order],
            [self.keys[group] for group in order] if self.keys else [],
            self.numbers[order],
        )


class GroupAnswer(NamedTuple):
    """The answer of a query for the values of its GROUP BY."""

    query_id: int
    keys: Keys
    answer: Answer


class ReleasedAnswer:
    """Answers queries from released rows."""

    def __init__(
        self,
        work: Workload,
        groups: AnswerGroups,
        axes: Mapping[str, ConditionAxis | LeastValues],
        dropped: int,
        ranges: Mapping[str, Mapping[str, Any]],
    ):
        """axes: by folded name; dropped: rows that the release leaves out; ranges: of each kept
        column of numbers."""
        self.work, self.axes, self.dropped, self.ranges = work, axes, dropped, ranges
        self.groups = groups.ordered()
        self.rows = self.groups.rows
        self.condition_ids = {
            owner: {sql: condition for condition, sql in enumerate(listed)}
            for owner, listed in work.truths.items()
        }
        self.matches: dict[tuple[str, int], Matches] = {}
        self.members: dict[tuple[str, ...], dict[Keys, npt.NDArray[np.int64]]] = {}

    def answers(self, actual: Answers) -> Iterator[GroupAnswer]:
        """Yield the query, the values of GROUP BY and the answer of each row of the result."""
        answered: dict[int, list[Keys]] = {}
        for query_id, keys in actual:
            answered.setdefault(query_id, []).append(keys)
        for query_id, (query, tree) in enumerate(
            zip(self.work.queries, self.work.formulas, strict=True)
        ):
            stopping.check()
            rows, dropped = self._rows(query, tree)
            aggregate = AGGREGATES[query.aggregate]
            if not query.groups:
                answer = self._checked(
                    query, rows, aggregate(rows, dropped), actual.get((query_id, ()))
                )
                if not len(self.rows):
                    answer = answer._replace(estimate=self._unseen(query, tree))
                yield GroupAnswer(query_id, (), answer)
                continue
            apart = Dropped(dropped.count, False, dropped.per_row, dropped.least, dropped.most)
            members = self._members(tuple(map(fold, query.groups)))
            none = np.zeros(0, dtype=np.int64)
            for keys in sorted({*members, *answered.get(query_id, [])}, key=by_keys):
                part = rows.only(members.get(keys, none))
                if (query_id, keys) in actual or part.may.any():
                    actual_answer = actual.get((query_id, keys))
                    yield GroupAnswer(
                        query_id,
                        keys,
                        self._checked(query, part, aggregate(part, apart), actual_answer),
                    )

    def _unseen(self, query: Query, tree: Formula) -> float | None:
        """Return the estimate for a release without rows; only a count has one."""
        if query.column is not None or any(block.owner == KEPT for block in blocks(tree)):
            return None
        return self.dropped * float(self._of(tree, self._star)[0])

    def _checked(
        self, query: Query, rows: MatchingRows, answer: Answer, actual: float | None
    ) -> Answer:
        """Return the answer with bounds that include the true answer despite rounding."""
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
        return Answer(estimate, lower, upper)

    def _rows(self, query: Query, tree: Formula) -> tuple[MatchingRows, Dropped]:
        total = len(self.rows)
        share, must, may = self._of(tree, self._block)
        star, star_must, star_may = self._of(tree, self._star)
        column = fold(query.column or "")
        valued = query.aggregate != "count"
        numbers = self.groups.numbers
        value = numbers[:, self.work.numbers.index(column)] if valued else np.zeros(total)
        column_range = self.ranges.get(column, {}) if valued else {}
        ends = [
            np.nan if column_range.get(end) is None else column_range[end]
            for end in ("least", "most")
        ]
        rows = MatchingRows(
            self.rows,
            np.broadcast_to(share, total),
            np.broadcast_to(must, total),
            np.broadcast_to(may, total),
            value,
            np.broadcast_to(star, total),
        )
        released = float(self.rows.sum())
        per_row = self.dropped / released if released else 0.0
        count = self.dropped if np.any(star_may) else 0
        return rows, Dropped(count, bool(np.all(star_must)), per_row, *ends)

    def _of(self, tree: Formula, leaf: Any) -> Any:
        """Return the match of a formula, as if the columns were independent of each other."""
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
        condition = self.condition_ids[block.owner][block.sql]
        if block.owner == KEPT:
            truth = self.groups.truths[:, condition]
            return truth.astype(np.float64), truth, truth
        if (block.owner, condition) not in self.matches:
            self.matches[block.owner, condition] = self.axes[block.owner].matches(condition)
        codes = self.groups.codes[block.owner]
        share, must, may = self.matches[block.owner, condition]
        return share[codes], must[codes], may[codes]

    def _star(self, block: Block) -> Any:
        """Return the match of rows that are left out: any quasi-identifiers, and for the estimate
        the kept values of each released row."""
        condition = self.condition_ids[block.owner][block.sql]
        if block.owner == KEPT:
            return (
                self.groups.truths[:, condition].astype(np.float64),
                np.bool_(False),
                np.bool_(True),
            )
        share, must, may = self.axes[block.owner].everything(condition)
        return np.float64(share), np.bool_(must), np.bool_(may)

    def _members(self, columns: tuple[str, ...]) -> dict[Keys, npt.NDArray[np.int64]]:
        if columns not in self.members:
            places = [self.work.groups.index(column) for column in columns]
            members: dict[Keys, list[int]] = {}
            for group, keys in enumerate(self.groups.keys):
                members.setdefault(tuple(keys[place] for place in places), []).append(group)
            self.members[columns] = {keys: np.array(rows) for keys, rows in members.items()}
        return self.members[columns]


def by_keys(keys: Sequence[str | None]) -> list[tuple[bool, str]]:
    """Return a sort key of values of GROUP BY, NULL last."""
    return [(key is None, key or "") for key in keys]
