"""``isolation``, ``linkage`` and ``inference``: what a release adds to what everybody can know.

The criteria are those of the Article 29 Working Party, opinion 05/2014 (WP216). The form is that
of Giomi et al. 2023, "A unified framework for quantifying privacy risk in synthetic data": an
attack on people of the raw table, the same attack on people who are not in it (the control), and a
guess without the release (naive). Departures: labels are read as the sets of values that they
cover, tied guesses count in parts, and a control of fewer people is scaled to as many as the raw
table has.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import lgamma
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql import kernels
from anon_sql.attacks.candidates import MatchCounts, People, drawn, matches
from anon_sql.attacks.minimality import wilson
from anon_sql.core import stopping
from anon_sql.core.arrow import integers
from anon_sql.core.hierarchy.column import Hierarchical
from anon_sql.core.labels.reading import MIN_CODE, Coverage, Ints
from anon_sql.core.parameters import Columns, OrNull, RelationOf, Whole, declare, param
from anon_sql.core.roles import fold
from anon_sql.errors import COMMENTS, AnonError, Parameter, Where, listed
from anon_sql.measures.pair import PairColumns

Floats = npt.NDArray[np.float64]
ISOLATION, LINKAGE, INFERENCE = "isolation", "linkage", "inference"
GAINED = pa.struct(
    [
        ("attack", pa.string()),
        ("attempts", pa.int64()),
        *((name, pa.float64()) for name in ("successes", "rate", "control_rate", "naive_rate")),
        *((name, pa.float64()) for name in ("gain", "low", "high")),
    ]
)


@dataclass(frozen=True)
class Attempts:
    """The parameters of all three attacks."""

    control: Any = param(
        None,
        RelationOf("the columns of the raw table"),
        "people who are not in the raw table. They show how often the attack succeeds without "
        "anything of them in the release",
        null="none; gain is NULL then",
        relation=True,
    )
    attempts: int | None = param(
        2000,
        OrNull(Whole(1)),
        "maximum number of attempts of each attack, drawn at random by seed",
        null="all",
    )
    seed: int = param(42, Whole(0), "seed for random choices")


@dataclass(frozen=True)
class FirstSource:
    """What an attacker has of people in one of two sources."""

    known: Any = param(
        None,
        Columns(),
        "the quasi-identifiers that the attacker has in the first of two sources; the second has "
        "the others",
        null="the first half of them",
    )


@dataclass(frozen=True)
class SecretColumns:
    """What an attacker wants to learn."""

    secret: Any = param(
        None,
        Columns(),
        "column or list of columns that the attacker guesses",
        null=Where(COMMENTS, "the sensitive columns declared in comments on the raw table"),
        bound=True,
    )


declare(ISOLATION, Attempts, PairColumns)
declare(LINKAGE, FirstSource, Attempts, PairColumns)
declare(INFERENCE, SecretColumns, Attempts, PairColumns)


@dataclass(frozen=True)
class Attacked:
    """The people of a raw table, and those of the control after them.

    names: of the quasi-identifiers. people: p groups of equal rows. counts: int64[p], their rows.
    raw: the number of groups of the raw table.
    """

    names: Sequence[str]
    people: People
    counts: Ints
    raw: int

    @property
    def rows(self) -> int:
        """The rows of the raw table."""
        return int(self.counts[: self.raw].sum())

    @property
    def control_rows(self) -> int:
        """The rows of the control."""
        return int(self.counts[self.raw :].sum())

    def sampled(self, options: Attempts) -> tuple[Ints, Ints]:
        """Return the groups of the people who are attacked, of the raw table and of the control.

        Which ones does not depend on the order of the rows.
        """
        draw = np.random.default_rng(options.seed)
        everybody = self.people.tuple_of
        is_raw = everybody < self.raw
        of_raw = drawn(everybody[is_raw], options.attempts, draw)
        return of_raw, drawn(everybody[~is_raw], options.attempts, draw)

    def matches(self, persons: Ints, columns: Sequence[int], threads: int) -> MatchCounts:
        """Return the released rows that match people of whom some quasi-identifiers are known.

        persons: int64[p], groups. columns: the positions of what is known.
        """
        known_columns = np.tile(columns, (len(persons), 1))
        return matches(self.people, persons, known_columns, threads)


_CHANCE = 0.05  # a share of repeated people that is no reason to doubt a control


def check_control(attacked: Attacked) -> None:
    """Raise AnonError for a control without rows, or with people of the raw table.

    With these an attack would seem to gain nothing. Of other people of the same population, about
    as many equal a person of the raw table as people there equal each other.
    """
    function, people = attacked.people.function, attacked.people
    if not attacked.control_rows:
        raise AnonError(function, Parameter("control") + " must have rows", "none")
    hashes = np.zeros(len(people.codes), dtype=np.uint64)
    for column in (*people.codes.T, *people.person_values.T):
        hashes = kernels.hashing.mix(hashes, np.ascontiguousarray(column))
    raw, control = attacked.counts[: attacked.raw], attacked.counts[attacked.raw :]
    in_both = int(control[np.isin(hashes[attacked.raw :], hashes[: attacked.raw])].sum())
    least, _ = wilson(in_both, attacked.control_rows)
    _, expected = wilson(int(raw[raw > 1].sum()), attacked.rows)
    if least is not None and expected is not None and least > expected + _CHANCE:
        rule = Parameter("control") + " must hold people who are not in the raw table"
        got = f"{in_both:,} of {attacked.control_rows:,} rows that equal one of its rows"
        raise AnonError(function, rule, got, "leave these people out of the control")


def gained(
    attack: str, right: Floats, control: float | None, many: int, naive: Floats
) -> dict[str, Any]:
    """Return a row of ``GAINED``.

    right: float64[a], the chance that each attempt succeeds, mostly 0 or 1. control: the share of
    successes of ``many`` attempts on the control, None without one. naive: as ``right``, of guesses
    without the release.
    """
    attempts, successes = len(right), float(right.sum())
    row: dict[str, Any] = dict.fromkeys(GAINED.names)
    row |= {"attack": attack, "attempts": attempts, "successes": successes}
    if attempts == 0:
        return row
    rate = successes / attempts
    low, high = wilson(successes, attempts)
    row |= {"rate": rate, "naive_rate": _mean(naive), "low": low, "high": high}
    if control is None or not many:
        return row
    least, most = wilson(control * many, many)
    return row | {
        "control_rate": control,
        "gain": _gain(rate, control),
        "low": _gain(low, most),
        "high": _gain(high, least),
    }


def _mean(shares: Floats) -> float | None:
    return float(shares.mean()) if len(shares) else None


def _gain(rate: float | None, control: float | None) -> float:
    """Return the share of what the control leaves to be gained that an attack gains, from -1."""
    assert rate is not None
    assert control is not None
    return 0.0 if control >= 1 else max(-1.0, (rate - control) / (1 - control))


def inference(attacked: Attacked, options: Attempts, threads: int) -> list[dict[str, Any]]:
    """Return a row of ``GAINED`` for each sensitive column.

    The attacker knows all quasi-identifiers of a person and guesses the most frequent value of the
    released rows that match. Without such a row it is the most frequent value of the release, which
    is also the naive guess. NULL is never guessed.
    """
    people = attacked.people
    parts = []
    for persons in attacked.sampled(options):
        naive = _commonest(people, persons)
        matched = attacked.matches(persons, range(len(people.columns)), threads)
        right = (matched.persons_value > 0) & (matched.persons_value == matched.most)
        guess = np.where(matched.most > 0, right / np.maximum(matched.ties, 1), naive)
        parts.append((guess, naive))
    (right, naive), (control, _) = parts
    return [
        gained(
            name, right[:, position], _mean(control[:, position]), len(control), naive[:, position]
        )
        for position, name in enumerate(people.sensitive)
    ]


def _commonest(people: People, persons: Ints) -> Floats:
    """Return the chance that the most frequent value of the release is right, float64[p, s]."""
    columns = zip(people.person_values[persons].T, people.commonest_values(), strict=True)
    return np.column_stack(
        [np.isin(values, common) / max(len(common), 1) for values, common in columns]
    )


def linkage(
    attacked: Attacked, first_source: Sequence[str] | None, options: Attempts, threads: int
) -> list[dict[str, Any]]:
    """Return a row of ``GAINED``, or raise AnonError for columns that are no quasi-identifiers.

    The attacker has two sources of the same people, each with some quasi-identifiers, and links two
    records if both lead to one released row: a row that matches is chosen at random for each.
    """
    people = attacked.people
    names = attacked.names
    first = _places(people.function, names, first_source)
    second = [position for position in range(len(names)) if position not in first]
    shares = []
    for persons in attacked.sampled(options):
        counts = [
            attacked.matches(persons, columns, threads).rows
            for columns in (first, second, range(len(names)))
        ]
        pairs = counts[0].astype(np.float64) * counts[1]
        shares.append(np.divide(counts[2], pairs, out=np.zeros(len(persons)), where=pairs > 0))
    released = int(people.sizes.sum())
    naive = np.full(len(shares[0]), 1 / released if released else 0.0)
    attack = " with ".join(
        ", ".join(names[position] for position in source) for source in (first, second)
    )
    return [gained(attack, shares[0], _mean(shares[1]), len(shares[1]), naive)]


def _places(function: str, names: Sequence[str], first_source: Sequence[str] | None) -> list[int]:
    """Return the positions of the columns of the first source, ascending."""
    if len(names) < 2:
        raise AnonError(function, "there must be two quasi-identifiers at least", f"{len(names)}")
    if first_source is None:
        return list(range(len(names) // 2))
    wanted = {fold(name): name for name in first_source}
    positions = [position for position, name in enumerate(names) if fold(name) in wanted]
    others = [name for key, name in wanted.items() if key not in {fold(name) for name in names}]
    if others or not positions or len(positions) == len(names):
        rule = Parameter("known") + " must name some of the quasi-identifiers, and not all"
        raise AnonError(function, rule, listed(others) if others else f"{len(positions)} of them")
    return positions


class Predicates(NamedTuple):
    """Conditions on the quasi-identifiers, all of which must hold.

    low, high: int64[a, q], the least and greatest code of each. label: int64[a, q], the set of
    codes that counts besides; -1 for none.
    """

    low: Ints
    high: Ints
    label: Ints


_ANY = np.iinfo(np.int64)
_KINDS = 3  # of conditions on a column: one is a whole label, the others are one value of it


def isolation(attacked: Attacked, options: Attempts) -> list[dict[str, Any]]:
    """Return a row of ``GAINED`` for predicates on one and on all quasi-identifiers.

    The attacker writes predicates from the labels of the release: on one column that its value is
    an end of a range or a member of a set; on all columns the same, or that a label covers the
    value. A predicate succeeds if one raw row matches it and no other. Naive predicates have the
    same form, with values drawn from those that the columns have.
    """
    people = attacked.people
    draw = np.random.default_rng(options.seed)
    domains = [
        _sorted(column, np.unique(codes[codes != MIN_CODE]))
        for column, codes in zip(people.columns, people.codes[: attacked.raw].T, strict=True)
    ]
    sorted_codes = [np.argsort(codes, kind="stable") for codes in people.codes.T]

    def row(attack: str, predicates: Predicates, naive: Predicates) -> dict[str, Any]:
        raw, control = _matching(attacked, predicates, sorted_codes)
        by_chance, _ = _matching(attacked, naive, sorted_codes)
        right = (raw == 1).astype(np.float64)
        share = None
        if attacked.control_rows and len(raw):
            share = _control_rate(raw, control, attacked.rows, attacked.control_rows)
        return gained(attack, right, share, len(control), (by_chance == 1).astype(np.float64))

    if not attacked.rows:
        none = np.zeros(0)
        return [gained(attack, none, None, 0, none) for attack in ("one column", "all columns")]
    single = _on_one_column(people.columns, options.attempts, draw)
    several = _on_all_columns(people, options.attempts, draw)
    return [
        row("one column", single, _by_chance(single, domains, draw)),
        row("all columns", several, _by_chance(several, domains, draw)),
    ]


def _sorted(column: Coverage, codes: Ints) -> Ints:
    """Return codes in the order of their values, which does not depend on that of the rows."""
    if not isinstance(column.column, Hierarchical):
        return np.sort(codes)
    names = column.column.tree.names
    return np.array(sorted(codes.tolist(), key=names.__getitem__), dtype=np.int64)


def _on_one_column(
    columns: Sequence[Coverage], most: int | None, draw: np.random.Generator
) -> Predicates:
    """Return that a column has a value which a label names: the ends of ranges, members of sets."""
    places, values = [], []
    for position, column in enumerate(columns):
        if column.column is None:
            ranges = ~column.parsed.star & (column.low <= column.high) & (column.low != MIN_CODE)
            named = [column.low[ranges], column.high[ranges]]
        else:
            named = [_named(column, label) for label in range(len(column.low))]
        distinct = _sorted(column, np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *named])))
        places.append(np.full(len(distinct), position))
        values.append(distinct)
    column_of, code = np.concatenate(places), np.concatenate(values)
    chosen = drawn(np.arange(len(code)), most, draw)
    shape = (len(chosen), len(columns))
    low, high = np.full(shape, _ANY.min), np.full(shape, _ANY.max)
    rows = np.arange(len(chosen))
    low[rows, column_of[chosen]] = high[rows, column_of[chosen]] = code[chosen]
    return Predicates(low, high, np.full(shape, -1))


def _named(column: Coverage, label: int) -> Ints:
    """Return the codes that a label names."""
    low, high = int(column.low[label]), int(column.high[label])
    if bool(column.parsed.star[label]) or low > high or low == MIN_CODE:
        return np.zeros(0, dtype=np.int64)
    if column.column is None:
        return np.unique([low, high])
    start, end = int(column.start[label]), int(column.end[label])
    members: Ints = column.flat[start:end] if end > start else np.arange(low, high + 1)
    return members


def _on_all_columns(people: People, most: int | None, draw: np.random.Generator) -> Predicates:
    """Return conditions on the rows of classes: by column a whole label, or one value of it."""
    texts = [column.labels.take(pa.array(column.label_of)) for column in people.columns]
    by_label = pa.table(texts, names=[str(position) for position in range(len(texts))])
    ascending = [(name, "ascending") for name in by_label.column_names]
    order = integers(pc.sort_indices(by_label, ascending))
    classes = drawn(np.repeat(order, people.sizes[order]), most, draw)
    shape = (len(classes), len(people.columns))
    low, high = np.full(shape, _ANY.min), np.full(shape, _ANY.max)
    label = np.full(shape, -1)
    for position, column in enumerate(people.columns):
        is_whole, chance = draw.integers(0, _KINDS, len(classes)) == 0, draw.random(len(classes))
        labels = column.label_of[classes].tolist()
        named_by = {shown: _sorted(column, _named(column, shown)) for shown in set(labels)}
        for row, shown in enumerate(labels):
            named = named_by[shown]
            if not len(named):
                continue
            if is_whole[row]:
                low[row, position] = column.low[shown]
                high[row, position] = column.high[shown]
                if column.end[shown] > column.start[shown]:
                    label[row, position] = shown
            else:
                low[row, position] = high[row, position] = named[int(chance[row] * len(named))]
    return Predicates(low, high, label)


def _by_chance(
    predicates: Predicates, domains: Sequence[Ints], draw: np.random.Generator
) -> Predicates:
    """Return predicates of the same form, with values drawn from the columns' own."""
    low, high = predicates.low.copy(), predicates.high.copy()
    for position, domain in enumerate(domains):
        conditions = np.flatnonzero(low[:, position] != _ANY.min)
        if not len(domain):
            continue
        ends = np.sort(domain[draw.integers(0, len(domain), (len(conditions), 2))], axis=1)
        is_equal = low[conditions, position] == high[conditions, position]
        low[conditions, position] = ends[:, 0]
        high[conditions, position] = np.where(is_equal, ends[:, 0], ends[:, 1])
    return Predicates(low, high, np.full(low.shape, -1))


def _matching(
    attacked: Attacked, predicates: Predicates, sorted_codes: Sequence[Ints]
) -> tuple[Ints, Ints]:
    """Return how many rows match each predicate, of the raw table and of the control, int64[a].

    sorted_codes: by column the groups in ascending order of their codes. The column that fewest
    groups match is looked up there, the others in the groups that are left.
    """
    codes = attacked.people.codes
    matched_rows = np.zeros((2, len(predicates.low)), dtype=np.int64)
    starts, ends = np.zeros((2, *predicates.low.T.shape), dtype=np.int64)
    for position, order in enumerate(sorted_codes):
        ascending = codes[order, position]
        starts[position] = np.searchsorted(ascending, predicates.low[:, position])
        ends[position] = np.searchsorted(ascending, predicates.high[:, position], "right")
    fewest = (ends - starts).argmin(axis=0)
    for row, column in enumerate(fewest):
        if not row % 256:
            stopping.check(attacked.people.function)
        groups = sorted_codes[column][starts[column, row] : ends[column, row]]
        for position in range(codes.shape[1]):
            values = codes[groups, position]
            kept = values >= predicates.low[row, position]
            kept &= values <= predicates.high[row, position]
            label = predicates.label[row, position]
            if label >= 0:
                kept &= np.isin(values, _named(attacked.people.columns[position], int(label)))
            groups = groups[kept]
        is_raw = groups < attacked.raw
        matched_rows[0, row] = attacked.counts[groups[is_raw]].sum()
        matched_rows[1, row] = attacked.counts[groups[~is_raw]].sum()
    return matched_rows[0], matched_rows[1]


def _control_rate(raw: Ints, control: Ints, rows: int, control_rows: int) -> float:
    """Return the share of predicates that isolate a person among as many people as the raw table.

    raw, control: int64[a], the rows that match. Fewer people are isolated more easily. So of a
    control that is larger, a random part is counted; for a smaller one, the share is scaled by what
    the raw table has as a whole, over what a random part of it of the same size has.
    """
    if control_rows >= rows:
        return float(_one_of(control, control_rows, rows).mean())
    share = float((control == 1).mean())
    part = float(_one_of(raw, rows, control_rows).mean())
    return min(1.0, share * float((raw == 1).mean()) / part) if part > 0 else share


def _one_of(matching: Ints, rows: int, drawn: int) -> Floats:
    """Return the chance that exactly one matching row is among those drawn of all rows."""
    chances = np.zeros(len(matching))
    for position, count in enumerate(matching.tolist()):
        if count and rows - count >= drawn - 1:
            chances[position] = count * np.exp(
                _log_choose(rows - count, drawn - 1) - _log_choose(rows, drawn)
            )
    return chances


def _log_choose(many: int, few: int) -> float:
    return lgamma(many + 1) - lgamma(few + 1) - lgamma(many - few + 1)
