"""Train a classifier on a raw table and on its release, and test both on held-out rows.

A release has neither the order nor the keys of its raw table, so rows cannot be paired. Both splits
therefore have the same number of rows of each value of the target, drawn by one seed from sorted
rows.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core import running, stopping
from anon_sql.core.labels.as_printed import as_printed
from anon_sql.core.labels.reading import read_nodes, read_ranges, read_sets
from anon_sql.core.ordered import order_of
from anon_sql.core.parameters import Anything, Choice, Columns, Number, Whole, declare, param
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, Parameter, did_you_mean, not_installed
from anon_sql.measures.loss import AttributeDomain, points
from anon_sql.measures.pair import PairColumns
from anon_sql.queries.axis import leaves_of
from anon_sql.queries.released import distinct

Feature = float | tuple[str, ...] | None  # a midpoint, members, or None if unknown

_DAY = 86_400_000_000  # microseconds


def values(column: AttributeDomain, raw: pa.Array) -> list[Feature]:
    """Return the features of raw values."""
    if column.number:
        return _middles(column, raw, raw)
    if pa.types.is_boolean(raw.type):
        raw = pc.if_else(raw, "true", "false")
    return [None if word is None else (word,) for word in raw.to_pylist()]


def labels(column: AttributeDomain, released: pa.Array) -> list[Feature]:
    """Return the features of labels, by the column's hierarchy if it has one."""
    if column.tree is not None:
        leaves = leaves_of(column, column.tree)
        below = leaves.below(column.tree, read_nodes(column.tree, column.sql_type, released))
        if not column.number:
            return [tuple(leaves.words[place] for place in places) or None for places in below]
        ends = [[places[end] if places else None for places in below] for end in (0, -1)]
        return _middles(
            column, *(leaves.values.take(pa.array(places, pa.int64())) for places in ends)
        )
    if column.number:
        read = read_ranges(column.sql_type, released)
        return _middles(column, read.low, read.high, within=True)
    raw_words = set(column.words)
    return [
        None if words is None else tuple(word for word in words if word in raw_words)
        for words in read_sets(released, order_of(column.sql_type, raw_words)).words
    ]


def _middles(
    column: AttributeDomain, low: pa.Array, high: pa.Array, *, within: bool = False
) -> list[Feature]:
    """Return the middles of ranges, None for NULL; dates in microseconds, as for timestamps.

    within: whether to cut the ranges to the domain first.
    """
    ends = [points(column.sql_type, end) for end in (low, high)]
    if within:
        ends = [np.clip(end, column.least, column.most) for end in ends]
    middle = (ends[0] + ends[1]) * (_DAY if column.sql_type == "DATE" else 1)
    return [
        value if is_valid else None
        for value, is_valid in zip(middle.tolist(), low.is_valid().to_pylist(), strict=True)
    ]


class Encoder:
    """Encodes a column as numbers, fitted on the training part alone.

    A range is its midpoint, scaled. A set gives each member an equal share; a member that the
    training part lacks gets none. ``*`` and NULL are the mean of the training part.
    """

    def __init__(self, train: Sequence[Feature]):
        words = sorted(
            {word for feature in train if isinstance(feature, tuple) for word in feature}
        )
        self.place = {word: i for i, word in enumerate(words)}
        numbers = [feature for feature in train if isinstance(feature, float)]
        self.mean = float(np.mean(numbers)) if numbers else 0.0
        self.scale = float(np.std(numbers)) if numbers else 0.0
        self.unknown = np.zeros(len(words))
        shares = [self._shares(feature) for feature in train if isinstance(feature, tuple)]
        if shares:
            self.unknown = np.mean(shares, axis=0)

    def encode(self, values: Sequence[Feature]) -> npt.NDArray[np.float64]:
        """Return float64[n, 1] for numbers, or float64[n, words]."""
        if not self.place:
            middles = [feature if isinstance(feature, float) else self.mean for feature in values]
            return (np.array(middles).reshape(-1, 1) - self.mean) / (self.scale or 1.0)
        encoded: dict[Feature, npt.NDArray[np.float64]] = {
            feature: self._shares(feature) if isinstance(feature, tuple) else self.unknown
            for feature in set(values)
        }
        return np.array([encoded[feature] for feature in values]).reshape(len(values), -1)

    def _shares(self, members: tuple[str, ...]) -> npt.NDArray[np.float64]:
        row = np.zeros(len(self.place))
        for word in members:
            if word in self.place:
                row[self.place[word]] += 1 / len(members)
        return row


@dataclass(frozen=True)
class Classification:
    """The parameters of ``classification``."""

    target: Any = param(
        "income",
        Columns(one=True),
        "column to predict from the quasi-identifiers; the release keeps it",
    )
    model: str = param(
        "random_forest",
        Choice(("random_forest", "knn", "svm", "naive_bayes")),
        "classifier of scikit-learn (extra `ml`): 'random_forest', 'knn', 'svm' or 'naive_bayes'",
    )
    positive: Any = param(
        None, Anything(), "the value whose f_measure is computed", null="the rarest"
    )
    held_out: float = param(0.3, Number(0, 1), "share of the rows held out for testing")
    seed: int = param(42, Whole(0), "seed for the split and the model")
    baseline: str = param(
        "raw", Choice(("raw", "none")), "'raw' trains on the raw table too; 'none' skips it"
    )


ROW = pa.struct(
    [
        ("data", pa.string()),
        ("accuracy", pa.float64()),
        ("f_measure", pa.float64()),
        ("trained", pa.int64()),
        ("tested", pa.int64()),
    ]
)
_FUNCTION = "classification"
declare(_FUNCTION, Classification, PairColumns)


@dataclass(frozen=True)
class ExampleGroups:
    """n groups of equal rows. columns: the value or label of each quasi-identifier, by name.
    target: as text. count: int64[n], rows per group."""

    columns: Mapping[str, pa.Array]
    target: Sequence[str | None]
    count: npt.NDArray[np.int64]


def classification(
    options: Classification,
    columns: Sequence[AttributeDomain],
    raw: ExampleGroups,
    released: ExampleGroups,
) -> pa.Array:
    """Return a row of ``ROW`` of each table, or of the release alone.

    columns: the quasi-identifiers. Raises AnonError.
    """
    rows, positive = [], options.positive
    shown = {column.name: released.columns[column.name] for column in columns}
    printed = as_printed(shown, {column.name: column.raw for column in columns}, released.count)
    for data, groups in (("raw", raw), ("released", replace(released, columns=printed))):
        features = []
        for column in columns:
            distinct_values, codes = distinct(groups.columns[column.name])
            column_features = (
                values(column, distinct_values)
                if data == "raw"
                else labels(column, distinct_values)
            )
            features.append((column_features, codes))
        sorted_columns, wanted = _sorted(groups, features)
        if positive is None and len(set(wanted)) > 1:
            positive = min(Counter(wanted).items(), key=lambda item: (item[1], item[0]))[0]
        if data == "released" or options.baseline == "raw":
            rows.append({"data": data, **_scores(options, sorted_columns, wanted, positive)})
    return pa.array(rows, ROW)


def _sorted(
    groups: ExampleGroups, features: Sequence[tuple[list[Feature], npt.NDArray[np.int64]]]
) -> tuple[list[list[Feature]], list[str]]:
    """Return the features and targets of the rows with a target, sorted by target and features."""
    ranks = [
        _ranks([repr(feature) for feature in column_features])[codes]
        for column_features, codes in features
    ]
    present = np.array([value is not None for value in groups.target], dtype=np.bool_)
    order = np.lexsort([*ranks[::-1], _ranks([value or "" for value in groups.target])])
    rows = np.repeat(order, np.where(present, groups.count, 0)[order])
    columns = [
        [column_features[code] for code in codes[rows]] for column_features, codes in features
    ]
    return columns, [groups.target[row] or "" for row in rows.tolist()]


def _ranks(texts: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the position of each text among the sorted distinct texts."""
    place_of = {text: place for place, text in enumerate(sorted(set(texts)))}
    return np.array([place_of[text] for text in texts], dtype=np.int64)


def target_of(name: Any, columns: Iterable[str], quasi: Sequence[str]) -> str:
    """Return the column of the raw table that a call names. Raises AnonError if there is none, or
    if it is a quasi-identifier."""
    names = {fold(column): column for column in columns}
    if not isinstance(name, str) or fold(name) not in names:
        hint = did_you_mean(name, names.values()) if isinstance(name, str) else None
        rule = Parameter("target") + " must name a column of the raw table"
        raise AnonError(_FUNCTION, rule, f"'{name}'", hint)
    if fold(name) in {fold(column) for column in quasi}:
        rule = Parameter("target") + " must be a column that the release keeps"
        raise AnonError(_FUNCTION, rule, f"the quasi-identifier {name}")
    return names[fold(name)]


def _scores(
    chosen: Classification,
    features: list[list[Feature]],
    wanted: list[str],
    positive: str | None,
) -> dict[str, Any]:
    """Train and test a model on sorted rows, and return its measures."""
    if len(set(wanted)) < 2:
        rule = Parameter("target") + " must have two values or more"
        raise AnonError(_FUNCTION, rule, f"{len(set(wanted))}")
    tested = _held_out(wanted, chosen.held_out, chosen.seed)
    train, test = np.flatnonzero(~tested), np.flatnonzero(tested)
    answers = np.array(wanted, dtype=object)
    if not len(test) or len(set(answers[train])) < 2:
        rule = Parameter("held_out") + " must leave rows to train on and to test on"
        raise AnonError(_FUNCTION, rule, f"{len(train)} and {len(test)} rows")
    train_features, test_features = [], []
    for column in features:
        stopping.check(_FUNCTION)
        encoder = Encoder([column[row] for row in train])
        stopping.check(_FUNCTION)
        train_features.append(encoder.encode([column[row] for row in train]))
        stopping.check(_FUNCTION)
        test_features.append(encoder.encode([column[row] for row in test]))
    classes, codes = np.unique(answers[train].astype(str), return_inverse=True)
    fitted = _fitted(_model(chosen.model, chosen.seed), np.hstack(train_features), codes)
    places = _predicted(fitted, np.hstack(test_features), _BLOCKS.get(chosen.model, len(test)))
    guessed, true = classes[places], answers[test].astype(str)
    hit = int(((guessed == positive) & (true == positive)).sum())
    wrong = int(((guessed == positive) != (true == positive)).sum())
    return {
        "accuracy": float((guessed == true).mean()),
        "f_measure": 2 * hit / (2 * hit + wrong) if hit + wrong else None,
        "trained": len(train),
        "tested": len(test),
    }


_TREES = 100
_BLOCKS = {
    "random_forest": 4096,
    "knn": 128,
    "svm": 4096,
}  # rows that are predicted between two looks


def _fitted(model: Any, features: npt.NDArray[np.float64], codes: npt.NDArray[np.int64]) -> Any:
    """Return a trained model; a forest with a warm start is trained tree by tree."""
    trees = range(1, _TREES + 1) if hasattr(model, "warm_start") else [None]
    for number in trees:
        if number is not None:
            model.set_params(n_estimators=number)
        running.aside(_FUNCTION, lambda: model.fit(features, codes))
    return model


def _predicted(model: Any, features: npt.NDArray[np.float64], block: int) -> npt.NDArray[np.int64]:
    """Return the code that a model gives each row, int64[n], found block by block."""
    codes = []
    for first in range(0, len(features), block):
        stopping.check(_FUNCTION)
        codes.append(model.predict(features[first : first + block]))
    return np.concatenate(codes)


def _held_out(wanted: list[str], share: float, seed: int) -> npt.NDArray[np.bool_]:
    """Return which of the sorted rows are tested, bool[n]: a share of each value of the target."""
    chosen = np.zeros(len(wanted), dtype=np.bool_)
    begin = 0
    for _, size in sorted(Counter(wanted).items()):
        rng = np.random.default_rng([seed, size])
        chosen[begin + rng.permutation(size)[: round(share * size)]] = True
        begin += size
    return chosen


def _model(name: str, seed: int) -> Any:
    """Return an untrained classifier of scikit-learn. Raises AnonError if it is not installed."""
    try:
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.naive_bayes import GaussianNB
        from sklearn.neighbors import KNeighborsClassifier
        from sklearn.svm import LinearSVC
    except ImportError:
        raise not_installed(_FUNCTION, "scikit-learn must be installed", None, "ml") from None
    models = {
        "random_forest": lambda: RandomForestClassifier(random_state=seed, warm_start=True),
        "knn": lambda: KNeighborsClassifier(15),
        "svm": lambda: LinearSVC(random_state=seed),
        "naive_bayes": GaussianNB,
    }
    return models[name]()
