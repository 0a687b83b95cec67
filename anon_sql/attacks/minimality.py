"""``attack_minimality``: count what an attacker learns who knows how a release was made.

A method with a constraint on sensitive values merges classes that break it, so the classes depend
on the values (Wong et al. 2007). The attacker knows the method, all its parameters and the
quasi-identifiers of all people, and makes the release again in many worlds (see ``worlds``). The
worlds that reproduce a class are equally likely. The probability of a person's value is the share
of these worlds in which the person has it.

The attacker claims the value of a person whose probability exceeds its share in the class most, if
the odds have grown ``surer`` times. If all worlds are tried, probabilities are exact. If worlds are
drawn at random, the probability must also exceed what chance explains: of binomial tests of each
person and value, the method of Benjamini and Hochberg (1995) picks claims of which at most a share
of ``CHANCE`` is expected to be false. If every world reproduces a class, nothing is claimed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.attacks.worlds import Attacker, Bools, Ints, TriedWorlds, as_tuples, integers_of
from anon_sql.core.common_parameters import SeriesState, Transparent
from anon_sql.core.parameters import Number, OrNull, Whole, declare, param
from anon_sql.core.running import Progress
from anon_sql.errors import AnonError
from anon_sql.measures.pair import require_any
from anon_sql.measures.sweep import MethodSettings, OneMethod
from anon_sql.methods.method import COMMON, release_methods
from anon_sql.pipeline.request import Request, Source
from anon_sql.pipeline.table import shown
from anon_sql.privacy.class_values import NULL, ClassValues, ordered

NAME = "attack_minimality"
Floats = npt.NDArray[np.float64]
CHANCE = 0.05  # the expected share of claims that chance explains
MIN_RUNS, MAX_RUNS, MAX_TOTAL_ROWS = 40, 250, 1_500_000  # of all runs together
PROBE_RUNS = 2  # they show whether classes depend on values at all
BLOCK_ROWS = 1 << 22  # rows of worlds that are counted at a time
CLAIMED = pa.struct(
    [
        ("attribute", pa.string()),
        *((name, pa.int64()) for name in ("persons", "claimed", "correct")),
        *((name, pa.float64()) for name in ("correct_share", "low", "high", "baseline_share")),
        ("certain", pa.int64()),
        ("gain", pa.float64()),
        ("runs", pa.int64()),
        ("every_world", pa.bool_()),
        ("control_claimed", pa.int64()),
        *((name, pa.float64()) for name in ("control_correct_share", "control_baseline_share")),
    ]
)


@dataclass(frozen=True)
class Minimality:
    """The parameters of ``attack_minimality``."""

    method: str = param("anonymize", OneMethod(), "release method that made the release")
    options: Any = param(
        None,
        MethodSettings(),
        "parameters of the method, such as {'anonymize': {'effort': 'fast'}}; all others keep "
        "their defaults",
    )
    runs: int | None = param(
        None,
        OrNull(Whole(1)),
        "how many worlds are drawn; where there are at most 2,000, all are tried instead",
        null="1,500,000 divided by the number of rows, at least 40 and at most 250",
    )
    surer: float = param(
        2.0,
        Number(1),
        "a value is claimed if its odds have grown at least this many times above those in the "
        "class",
    )


declare(
    NAME,
    *COMMON,
    SeriesState,
    Transparent,
    Minimality,
    without=("series",),
    notes={"seed": "It also draws the worlds."},
)


@dataclass(frozen=True)
class VisibleClasses:
    """The classes of a release as its readers see them.


    labels: what each class shows, by quasi-identifier. sizes: int64[m]. values: of each sensitive
    column.
    """

    labels: Mapping[str, pa.Array]
    sizes: Ints
    values: Mapping[str, ClassValues]


def minimality(
    source: Source | None, request: Request, paths: pa.StructArray | None, visible: VisibleClasses
) -> list[dict[str, Any]]:
    """Return a row of ``CLAIMED`` for each sensitive column.

    source, request, paths: the raw table and the call that made the release. Raises AnonError for a
    release that the call does not make.
    """
    chosen: Minimality = request.options
    require_any(NAME, request.sensitive)
    if release_methods()[chosen.method].perturbative:
        rule = "the release must have the rows of the raw table"
        raise AnonError(NAME, rule, f"{chosen.method}, which adds rows")
    if source is None:
        if len(visible.sizes):
            raise _not_made()
        return [_row(name, 0, _NO_CLAIMS, 0, True, None) for name in request.sensitive]
    nested = any(pa.types.is_nested(labels.type) for labels in visible.labels.values())
    call = replace(
        request,
        method=release_methods()[chosen.method],
        options=chosen.options[chosen.method],
        format="typed" if nested else request.format,
    )
    attacker = Attacker(source, call, paths)
    _require_made(attacker, call, visible)
    if call.transparent:  # no guarantee against an attacker who has the key
        attacker = attacker.with_choices(call.seed)
    rows = len(attacker.classes)
    runs = chosen.runs or max(MIN_RUNS, min(MAX_RUNS, MAX_TOTAL_ROWS // rows))
    control = None
    with Progress(NAME, 2 * runs * rows) as progress:
        probed = None if call.protected else attacker.tried(PROBE_RUNS, call.seed, progress)
        if probed is not None and probed.agree.all():
            tried = probed
        else:
            tried = attacker.tried(runs, call.seed, progress)
            other = attacker.with_choices(call.seed + 1)
            if not call.transparent and not other.agrees(np.arange(rows, dtype=np.int32)).all():
                progress.show("with other random choices")
                control = other.tried(runs, call.seed, progress)
    table_rows = []
    for name in request.sensitive:
        column = _AttackedColumn(attacker, source.keys[name])
        table_rows.append(
            _row(
                name,
                int(column.released.sum()),
                column.claims(tried, chosen.surer),
                len(tried.agree),
                tried.every,
                None if control is None else column.claims(control, chosen.surer),
            )
        )
    return table_rows


@dataclass(frozen=True)
class _Claims:
    """The claims of one attack: their number, the correct and the certain ones, and the expected
    number of correct ones if the values of each class were dealt at random."""

    claimed: int
    correct: int
    certain: int
    by_chance: float


_NO_CLAIMS = _Claims(0, 0, 0, 0.0)


class _CellCounts(NamedTuple):
    """How often rows of a cell have a value. cells, codes, counts: int64[e]."""

    cells: Ints
    codes: Ints
    counts: Ints


class _AttackedColumn:
    """An attacked sensitive column; keys: binary[n], its sort keys."""

    def __init__(self, attacker: Attacker, keys: pa.Array) -> None:
        self.classes, self.cells = attacker.classes, attacker.cells
        self.codes, words = ordered(keys)
        self.truth = self.codes  # the values by which claims are judged
        codes, self.width = self.codes, len(words)
        self.null = 0 if words[0].as_py() == NULL else -1  # the code of NULL
        self.released: Bools = ~attacker.made.dropped[attacker.made.row_group]
        self.pairs, self.in_class = np.unique(self.classes * self.width + codes, return_counts=True)
        self.sizes = np.bincount(self.classes, minlength=len(attacker.shape.sizes))
        self.class_of = np.empty(int(self.cells.max(initial=0)) + 1, np.int64)
        self.class_of[self.cells] = self.classes

    def shares(self, classes: Ints, codes: Ints) -> Floats:
        """Return the share of values in classes, float64[c]."""
        position = np.searchsorted(self.pairs, classes * self.width + codes)
        return np.asarray(self.in_class[position] / self.sizes[classes])

    def claims(self, tried: TriedWorlds, surer: float) -> _Claims:
        """Return the claims of an attacker who has tried some worlds."""
        agreeing = tried.agree.sum(axis=0)
        values = np.bincount(self.pairs // self.width, minlength=len(self.sizes))
        open_ = (agreeing > 0) & (agreeing < len(tried.agree)) & (values > 1)
        open_[self.classes[~self.released]] = False
        cell, code, times = self._counted(tried, open_)
        people = np.bincount(self.cells)
        trials = agreeing[self.class_of[cell]] * people[cell]
        share = self.shares(self.class_of[cell], code)
        with np.errstate(divide="ignore"):
            grown = (times / (trials - times)) * ((1 - share) / share)
        likely = (grown >= surer) & (times > trials * share) & (code != self.null)
        cell, code, times, trials, share = (
            column[likely] for column in (cell, code, times, trials, share)
        )
        if not tried.every:
            cells = np.bincount(self.class_of[people > 0], minlength=len(self.sizes))
            tests = int((cells * values)[open_].sum())
            sure = picked(upper_tails(times, trials, share), tests)
            cell, code, times, trials, share = (
                column[sure] for column in (cell, code, times, trials, share)
            )
        gain = times / np.maximum(trials, 1) - share
        order = np.lexsort((code, -gain, cell))
        best = order[np.flatnonzero(np.diff(cell[order], prepend=-1))]
        cell, code = cell[best], code[best]
        right = np.isin(self.cells * self.width + self.truth, cell * self.width + code)
        named = people[cell]
        return _Claims(
            int(named.sum()),
            int(right.sum()),
            int(named[times[best] == trials[best]].sum()),
            float((named * share[best]).sum()),
        )

    def _counted(self, tried: TriedWorlds, open_: Bools) -> _CellCounts:
        """Return cells, values, and how often rows of the cell have the value in the worlds that
        reproduce its class; open_: bool[m], the classes that are counted."""
        rows = np.flatnonzero(open_[self.classes])
        cells, classes = self.cells[rows] * self.width, self.classes[rows]
        keys, counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
        step = max(1, BLOCK_ROWS // max(len(rows), 1))
        for first in range(0, len(tried.agree), step):
            part = slice(first, first + step)
            agree = tried.agree[part][:, classes]
            came = (cells + self.codes[tried.dealt[part][:, rows]])[agree]
            both = np.concatenate([keys, came])
            weights = np.concatenate([counts, np.ones(len(came), np.int64)])
            keys, inverse = np.unique(both, return_inverse=True)
            counts = np.bincount(inverse.reshape(-1), weights, len(keys)).astype(np.int64)
        return _CellCounts(keys // self.width, keys % self.width, counts)


def upper_tails(times: Ints, trials: Ints, share: Floats) -> Floats:
    """Return the probability of ``times`` or more successes in binomial trials, float64[c]."""
    if not len(times):
        return np.zeros(0)
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, trials.max() + 1)))])
    cases = np.stack([times.astype(np.float64), trials.astype(np.float64), share])
    distinct, inverse = np.unique(cases, axis=1, return_inverse=True)
    tails = np.empty(distinct.shape[1])
    for place, (least, many, probability) in enumerate(distinct.T.tolist()):
        n, successes = int(many), np.arange(int(least), int(many) + 1)
        terms = logs[n] - logs[successes] - logs[n - successes]
        terms = terms + successes * np.log(probability) + (n - successes) * np.log1p(-probability)
        tails[place] = min(1.0, float(np.exp(terms).sum()))
    return np.asarray(tails[inverse.reshape(-1)])


def picked(chances: Floats, tests: int) -> Bools:
    """Return which of ``tests`` tests are significant, bool[c] (Benjamini and Hochberg 1995)."""
    order = np.argsort(chances, kind="stable")
    passes = chances[order] <= CHANCE * np.arange(1, len(order) + 1) / max(tests, 1)
    last = np.flatnonzero(passes)
    limit = chances[order[last[-1]]] if len(last) else -1.0
    return np.asarray(chances <= limit)


def wilson(right: float, many: int) -> tuple[float | None, float | None]:
    """Return the ends of the 95 % interval of a share (Wilson 1927); None if ``many`` is 0."""
    if many == 0:
        return None, None
    z, share = 1.959964, right / many
    middle, width = (
        share + z * z / (2 * many),
        z * sqrt(share * (1 - share) / many + z * z / (4 * many * many)),
    )
    scale = 1 + z * z / many
    return max(0.0, (middle - width) / scale), min(1.0, (middle + width) / scale)


def _row(
    name: str, people: int, claims: _Claims, runs: int, every: bool, control: _Claims | None
) -> dict[str, Any]:
    low, high = wilson(claims.correct, claims.claimed)
    baseline = claims.by_chance / claims.claimed if claims.claimed else None
    is_above_chance = low is not None and baseline is not None and low > baseline
    row = {
        "attribute": name,
        "persons": people,
        "claimed": claims.claimed,
        "correct": claims.correct,
        "correct_share": claims.correct / claims.claimed if claims.claimed else None,
        "low": low,
        "high": high,
        "baseline_share": baseline,
        "certain": claims.certain,
        "gain": (claims.correct - claims.by_chance) / people
        if is_above_chance
        else 0.0
        if people
        else None,
        "runs": runs,
        "every_world": every,
    }
    if control is not None:
        row["control_claimed"] = control.claimed
        if control.claimed:
            row["control_correct_share"] = control.correct / control.claimed
            row["control_baseline_share"] = control.by_chance / control.claimed
    return row


def _not_made() -> AnonError:
    return AnonError(
        NAME,
        "the call must make the classes of the release",
        None,
        "pass the method, every parameter, the key and the roles of all columns as they were when "
        "it was released, with this version; a release in parts or of a series cannot be attacked",
    )


def _require_made(attacker: Attacker, request: Request, visible: VisibleClasses) -> None:
    """Raise AnonError unless the release has the labels, sizes and values of the attacker's run."""
    made, kept = attacker.made, np.flatnonzero(~attacker.made.dropped)
    first = np.empty(len(made.dropped), np.int64)
    first[made.group_of] = np.arange(len(made.group_of))
    made_labels = []
    for name, labels in zip(request.quasi, made.labels, strict=True):
        text = shown(request, name, labels)
        made_labels.append(text.take(pa.array(labels.label_of[first[kept]])))
    class_of_group = np.empty(len(made.dropped), np.int64)
    class_of_group[made.row_group] = attacker.classes
    classes_of = class_of_group[kept].tolist()
    class_of_labels = dict(
        zip(zip(*map(as_tuples, made_labels), strict=True), classes_of, strict=True)
    )
    shown_labels = (visible.labels[name] for name in request.quasi)
    visible_labels = list(zip(*map(as_tuples, shown_labels), strict=True))
    if len(visible_labels) != len(class_of_labels) or set(visible_labels) != set(class_of_labels):
        raise _not_made()
    class_ids = np.array(
        [class_of_labels[labels_of_class] for labels_of_class in visible_labels], np.int64
    )
    if (attacker.shape.sizes[class_ids] != visible.sizes).any():
        raise _not_made()
    released = ~made.dropped[made.row_group]
    classes = attacker.classes[released]
    for name, spread in visible.values.items():
        codes = integers_of(ordered(attacker.source.keys[name])[0][released])
        width = max(len(spread.keys), int(codes.max(initial=0)) + 1)
        pairs, counts = np.unique(classes * width + codes, return_counts=True)
        visible_pairs = class_ids[spread.class_of] * width + spread.key_of
        by_class = np.argsort(visible_pairs)
        if not (
            np.array_equal(pairs, visible_pairs[by_class])
            and np.array_equal(counts, spread.counts[by_class])
        ):
            raise _not_made()
