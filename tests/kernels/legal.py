"""A slow and plain test of legality, and tables of sensitive values to try it on."""

from collections import Counter
from math import inf, log

import numpy as np
from hypothesis import strategies as st

from anon_sql.privacy import VALUE_MODELS
from anon_sql.privacy.constraint import Sensitive, constraint
from anon_sql.privacy.l_diversity import KINDS

NULL = None


@st.composite
def asked(draw):
    """Rows of (number, text, person) and the constraint of their classes."""
    rows = draw(
        st.lists(
            st.tuples(
                st.sampled_from([1, 2, 3, 5, 8, NULL][: draw(st.integers(2, 6))]),
                st.sampled_from(["a", "b", "c", NULL][: draw(st.integers(2, 4))]),
                st.integers(0, 6),
            ),
            min_size=2,
            max_size=24,
        )
    )
    return rows, {
        "k": draw(st.integers(1, 4)),
        "l": draw(st.sampled_from([1, 2, 3])),
        "kind": draw(st.sampled_from(KINDS)),
        "c": draw(st.sampled_from([1.0, 2.0, 3.0])),
        "t": draw(st.sampled_from([0.0, 0.15, 0.3, 0.5, 1.0])),
        "beta": draw(st.sampled_from([None, None, 0.1, 0.5, 1.0, 3.0])),
        "beta_kind": draw(st.sampled_from(["enhanced", "basic"])),
        "delta": draw(st.sampled_from([None, None, 0.2, 0.7, 2.0])),
        "max_share": draw(st.sampled_from([None, None, 0.3, 0.5, 0.75, 1.0])),
        "persons": draw(st.booleans()),
    }


def made(rows, how):
    """Return the package's constraint of the rows."""
    how = dict(how)
    persons = np.array([row[2] for row in rows]) if how.pop("persons") else None
    if persons is not None:
        persons = np.unique(persons, return_inverse=True)[1].astype(np.int32)
    columns = [column(rows, 0, True), column(rows, 1, False)]
    return constraint(how.pop("k"), columns, persons, models(**how))


def models(**how):
    """Return the models of a call, of all that are known."""
    how = {"l_kind" if name == "kind" else name: value for name, value in how.items()}
    return [
        known(**{name: how[name] for name in known.parameters() if name in how})
        for known in VALUE_MODELS
    ]


def column(rows, at, number):
    values = [row[at] for row in rows]
    known = sorted({value for value in values if value is not NULL})
    codes = [len(known) if value is NULL else known.index(value) for value in values]
    ordered = number and NULL not in values
    return Sensitive("ab"[at], np.array(codes, np.int32), len(known), ordered)


def cells(rows, at, persons):
    """Return the values that count: one a row, or one for each person who has it."""
    if persons:
        return [value for value, _ in {(row[at], row[2]) for row in rows}]
    return [row[at] for row in rows]


def diverse(values, how):
    counts = sorted(Counter(v for v in values if v is not NULL).values(), reverse=True)
    if how["l"] <= 1:
        return True
    if how["kind"] == "entropy":
        total = sum(counts)
        return (
            total > 0 and -sum(c / total * log(c / total) for c in counts) >= log(how["l"]) - 1e-9
        )
    if len(counts) < how["l"]:
        return False
    return how["kind"] == "distinct" or counts[0] < how["c"] * sum(counts[how["l"] - 1 :])


def distance(values, table, ordered):
    """Return the earth mover's distance of two lists of values."""
    share, whole = Counter(values), Counter(table)
    gaps = [
        share[value] / len(values) - whole[value] / len(table)
        for value in sorted(whole, key=lambda v: (v is NULL, v))
    ]
    if not ordered:
        return sum(map(abs, gaps)) / 2
    return sum(abs(sum(gaps[: i + 1])) for i in range(len(gaps))) / max(len(gaps) - 1, 1)


def within_shares(values, table, beta, delta, max_share, beta_kind):
    """Return whether the shares of values are within bounds; NULL is a value, None asks nothing."""
    for value, often in Counter(table).items():
        p, q = often / len(table), values.count(value) / len(values)
        gain = inf if beta_kind == "basic" else -log(p)
        if beta is not None and q - p > p * min(beta, gain) + 1e-9:
            return False
        if max_share is not None and q > max_share + 1e-9:
            return False
        if delta is not None and (q == 0 or abs(log(q / p)) > delta + 1e-9):
            return False
    return True


def legal(rows, table, how):
    """Return whether rows of a table are legal as one class."""
    size = len({row[2] for row in rows}) if how["persons"] else len(rows)
    if size < how["k"]:
        return False
    for at, number in ((0, True), (1, False)):
        values, all_values = (cells(part, at, how["persons"]) for part in (rows, table))
        ordered = number and NULL not in all_values
        if not diverse(values, how):
            return False
        if how["t"] < 1 and distance(values, all_values, ordered) > how["t"] + 1e-9:
            return False
        bounds = map(how.get, ("beta", "delta", "max_share", "beta_kind"))
        if not within_shares(values, all_values, *bounds):
            return False
    return True
