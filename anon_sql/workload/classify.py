"""A classifier trained on a raw table and on its release, tested on rows that it has not seen.

A release has neither the order nor the keys of its raw table, so rows cannot be paired: the same
split means as many rows of each value of the target, drawn by one seed from rows sorted alike.
"""

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.arrow import first
from anon_sql.calls.binding import HELPER
from anon_sql.errors import AnonError, did_you_mean, not_installed
from anon_sql.measures.checked import HINT, types_of
from anon_sql.options import Choice, Number, Whole
from anon_sql.registry import udf
from anon_sql.roles import fold
from anon_sql.workload.features import Encoder, Said, said

MODEL = Choice(("random_forest", "knn", "svm", "naive_bayes"))
BASELINE = Choice(("raw", "none"))
_TARGET = HELPER + "target_"
_FUNCTION = "classification"
_ROW = pa.struct(
    [
        ("data", pa.string()),
        ("accuracy", pa.float64()),
        ("f_measure", pa.float64()),
        ("trained", pa.int64()),
        ("tested", pa.int64()),
    ]
)


@udf(
    "__anon_classification",
    "STRUCT(data VARCHAR, accuracy DOUBLE, f_measure DOUBLE, trained BIGINT, tested BIGINT)[]",
)
def classification(call: Any, types: Any, raw: Any, released: Any, trees: Any) -> pa.Array:
    """Accuracy and F-measure of both, or of the release alone, or an AnonError."""
    asked, kinds = first(call), types_of(types)
    model = MODEL.read(_FUNCTION, "model", asked["model"])
    share = Number(0, 1).read(_FUNCTION, "held_out", asked["held_out"])
    seed = Whole(0).read(_FUNCTION, "seed", asked["seed"])
    baseline = BASELINE.read(_FUNCTION, "baseline", asked["baseline"])
    target = _target(asked["target"], kinds, asked["quasi"])
    rows: list[dict[str, Any]] = []
    paths = {fold(name): rows for name, rows in first(trees).items()}
    words: dict[str, set[str]] = {}  # of the raw table, in columns of text
    positive = asked["positive"]
    for data, packed in (("raw", raw), ("released", released)):
        columns = first(packed)
        wanted = columns.get(next((c for c in columns if fold(c) == fold(_TARGET + target)), ""))
        if wanted is None:
            raise AnonError(_FUNCTION, "both tables must have the target and rows", f"{data}")
        names = {fold(name): name for name in columns}
        features = []
        for name in asked["quasi"]:
            tree = paths.get(fold(name)) if data == "released" else None
            texts = columns[names[fold(name)]]
            features.append(said(_FUNCTION, name, kinds[name], texts, data == "raw", tree))
            held = {word for one in features[-1] if isinstance(one, tuple) for word in one}
            if not tree and not held <= words.setdefault(name, held):
                rule = f"a label of {name} must name what the raw table holds"
                raise AnonError(_FUNCTION, rule, "one with other", HINT)
        present = [at for at, value in enumerate(wanted) if value is not None]
        features = [[column[at] for at in present] for column in features]
        wanted = [wanted[at] for at in present]
        if positive is None and len(set(wanted)) > 1:
            positive = min(Counter(wanted).items(), key=lambda item: (item[1], item[0]))[0]
        if data == "released" or baseline == "raw":
            scores = _scores(model, features, wanted, positive, share, seed)
            rows.append({"data": data, **scores})
    return pa.array([rows], pa.list_(_ROW))


def _target(name: Any, kinds: dict[str, str], quasi: list[str]) -> str:
    known = {fold(column): column for column in kinds}
    if not isinstance(name, str) or fold(name) not in known:
        hint = did_you_mean(name, kinds) if isinstance(name, str) else None
        raise AnonError(_FUNCTION, "target must name a column of the raw table", f"'{name}'", hint)
    if fold(name) in {fold(column) for column in quasi}:
        rule = "target must be a column that the release keeps"
        raise AnonError(_FUNCTION, rule, f"the quasi-identifier {name}")
    return known[fold(name)]


def _scores(
    model: str,
    features: list[list[Said]],
    wanted: list[str],
    positive: str | None,
    share: float,
    seed: int,
) -> dict[str, Any]:
    if len(set(wanted)) < 2:
        rule = "target must have two values or more"
        raise AnonError(_FUNCTION, rule, f"{len(set(wanted))}")
    order = sorted(
        range(len(wanted)), key=lambda at: (wanted[at], *(repr(column[at]) for column in features))
    )
    features = [[column[at] for at in order] for column in features]
    wanted = [wanted[at] for at in order]
    tested = _held_out(wanted, share, seed)
    train, test = np.flatnonzero(~tested), np.flatnonzero(tested)
    answers = np.array(wanted, dtype=object)
    if not len(test) or len(set(answers[train])) < 2:
        rule = "held_out must leave rows to train on and to test on"
        raise AnonError(_FUNCTION, rule, f"{len(train)} and {len(test)} rows")
    learned, asked = [], []
    for column in features:
        encoder = Encoder([column[at] for at in train])
        learned.append(encoder.encode([column[at] for at in train]))
        asked.append(encoder.encode([column[at] for at in test]))
    fitted = _model(model, seed).fit(np.hstack(learned), answers[train].astype(str))
    guessed, true = fitted.predict(np.hstack(asked)), answers[test].astype(str)
    hit = int(((guessed == positive) & (true == positive)).sum())
    wrong = int(((guessed == positive) != (true == positive)).sum())
    return {
        "accuracy": float((guessed == true).mean()),
        "f_measure": 2 * hit / (2 * hit + wrong) if hit + wrong else None,
        "trained": len(train),
        "tested": len(test),
    }


def _held_out(wanted: list[str], share: float, seed: int) -> npt.NDArray[np.bool_]:
    """Which of the sorted rows are tested, bool[n]: the share of each value of the target."""
    chosen = np.zeros(len(wanted), dtype=np.bool_)
    begin = 0
    for _, size in sorted(Counter(wanted).items()):
        rng = np.random.default_rng([seed, size])
        chosen[begin + rng.permutation(size)[: round(share * size)]] = True
        begin += size
    return chosen


def _model(name: str, seed: int) -> Any:
    """An untrained classifier of scikit-learn. Raises AnonError where that is not installed."""
    try:
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.naive_bayes import GaussianNB
        from sklearn.neighbors import KNeighborsClassifier
        from sklearn.svm import LinearSVC
    except ImportError:
        raise not_installed(_FUNCTION, "scikit-learn must be installed", "none", "ml") from None
    models = {
        "random_forest": lambda: RandomForestClassifier(100, random_state=seed),
        "knn": lambda: KNeighborsClassifier(15),
        "svm": lambda: LinearSVC(random_state=seed),
        "naive_bayes": GaussianNB,
    }
    return models[name]()
