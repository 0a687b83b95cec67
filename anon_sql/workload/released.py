"""The released rows, and what every query finds among them."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql.arrow import integers
from anon_sql.roles import fold
from anon_sql.workload.axis import Axis, Matches, truth_table
from anon_sql.workload.bounds import AGGREGATES, Answer, Dropped, Rows
from anon_sql.workload.formula import KEPT, Block, Formula, blocks
from anon_sql.workload.prepare import Workload
from anon_sql.workload.query import Query

_ROUNDING = 1e-12  # of the sum of what is added: DuckDB adds in another order
Keys = tuple[str | None, ...]


class Released:
    """The released rows and what every block makes of them."""

    def __init__(
        self,
        function: str,
        work: Workload,
        asked: dict[str, Any],
        classes: Any,
        columns: Any,
        held: dict[str, Any],
    ):
        self.work, self.held = work, held
        self.rows = (
            integers(classes["rows"].values).astype(np.float64)
            if classes["rows"].is_valid
            else np.zeros(0)
        )
        total = len(self.rows)
        self.shown = float(self.rows.sum())
        self.dropped = int(asked["checked"]["rows"]) - int(self.shown)
        read = columns.values if columns.is_valid else []
        self.axes = {fold(column["name"].as_py()): Axis(function, column) for column in read}
        codes = _table(classes["codes"], total, np.int64)
        truths = truth_table(classes["truths"], total)
        numbers = _table(classes["numbers"], total, np.float64)
        keys = classes["keys"].values.to_pylist() if total else []
        # Sums must not depend on the order in which threads sent the rows.
        by = [self.rows, *numbers.T, *np.packbits(truths, axis=1).T, *codes.T]
        order = np.lexsort(by)
        self.rows, self.truths, self.numbers = self.rows[order], truths[order], numbers[order]
        self.keys = [keys[at] for at in order]
        self.codes = {name: codes[order, at] - 1 for at, name in enumerate(self.axes)}
        self.at = {
            owner: {sql: at for at, sql in enumerate(listed)}
            for owner, listed in work.truths.items()
        }
        self.matches: dict[tuple[str, int], Matches] = {}
        self.groups: dict[tuple[str, ...], dict[Keys, npt.NDArray[np.int64]]] = {}

    def found(
        self, actual: dict[tuple[int, Keys], float | None]
    ) -> Iterator[tuple[int, Keys, Answer]]:
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
            members = self._groups(tuple(map(fold, query.groups)))
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
        value = self.numbers[:, self.work.numbers.index(column)] if valued else np.zeros(total)
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
        each = self.dropped / self.shown if self.shown else 0.0
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
            truth = self.truths[:, at]
            return truth.astype(np.float64), truth, truth
        if (block.owner, at) not in self.matches:
            self.matches[block.owner, at] = self.axes[block.owner].matches(at)
        codes = self.codes[block.owner]
        share, must, may = self.matches[block.owner, at]
        return share[codes], must[codes], may[codes]

    def _star(self, block: Block) -> Any:
        """Of a row that is left out: anything in its quasi-identifiers, and for the estimate
        the kept values of a row that is shown."""
        at = self.at[block.owner][block.sql]
        if block.owner == KEPT:
            return self.truths[:, at].astype(np.float64), np.bool_(False), np.bool_(True)
        share, must, may = self.axes[block.owner].everything(at)
        return np.float64(share), np.bool_(must), np.bool_(may)

    def _groups(self, columns: tuple[str, ...]) -> dict[Keys, npt.NDArray[np.int64]]:
        if columns not in self.groups:
            places = [self.work.groups.index(column) for column in columns]
            found: dict[Keys, list[int]] = {}
            for at, keys in enumerate(self.keys):
                found.setdefault(tuple(keys[place] for place in places), []).append(at)
            self.groups[columns] = {keys: np.array(rows) for keys, rows in found.items()}
        return self.groups[columns]


def _table(lists: Any, rows: int, kind: Any) -> npt.NDArray[Any]:
    """kind[rows, m] of a list of lists of numbers; NULL is NaN."""
    if not rows:
        return np.zeros((0, 64), dtype=kind)
    flat = lists.values.flatten()
    if kind == np.float64:
        flat = flat.fill_null(np.nan)
    table: npt.NDArray[Any] = flat.to_numpy(zero_copy_only=False).astype(kind).reshape(rows, -1)
    return table


def by_keys(keys: Sequence[str | None]) -> list[tuple[bool, str]]:
    return [(key is None, key or "") for key in keys]
