"""The released rows, and what every query finds among them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql.core.roles import fold
from anon_sql.queries.axis import Axis, Matches
from anon_sql.queries.bounds import AGGREGATES, Answer, Dropped, Rows
from anon_sql.queries.formula import KEPT, Block, Formula, blocks
from anon_sql.queries.least import Least
from anon_sql.queries.prepare import Workload
from anon_sql.queries.query import Query

_ROUNDING = 1e-12  # of the sum of what is added: DuckDB adds in another order
Keys = tuple[str | None, ...]
Answers = Mapping[tuple[int, Keys], float | None]  # by query and values of GROUP BY


@dataclass(frozen=True)
class Groups:
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

    def ordered(self) -> "Groups":
        """The same in an order that does not depend on that of the threads that sent them."""
        by = [self.rows, *self.numbers.T, *np.packbits(self.truths, axis=1).T, *self.codes.values()]
        order = np.lexsort(by)
        return Groups(
            self.rows[order],
            {name: codes[order] for name, codes in self.codes.items()},
            self.truths[order],
            [self.keys[at] for at in order] if self.keys else [],
            self.numbers[order],
        )


class Released:
    """The released rows and what every condition makes of them."""

    def __init__(
        self,
        work: Workload,
        groups: Groups,
        axes: Mapping[str, Axis | Least],
        dropped: int,
        held: Mapping[str, Mapping[str, Any]],
    ):
        """axes: by folded name; dropped: rows that the release leaves out; held: the range of each
        kept column of numbers."""
        self.work, self.axes, self.dropped, self.held = work, axes, dropped, held
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
        one = self.held.get(column, {}) if valued else {}
        ends = [np.nan if one.get(end) is None else one[end] for end in ("least", "most")]
        rows = Rows(
            self.rows,
            np.broadcast_to(share, total),
            np.broadcast_to(must, total),
            np.broadcast_to(may, total),
            value,
            np.broadcast_to(star, total),
        )
        shown = float(self.rows.sum())
        each = self.dropped / shown if shown else 0.0
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
