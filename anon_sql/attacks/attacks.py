"""Four attackers on one release: linking, background knowledge, homogeneity and skewness."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.attacks.candidates import People, Sample, matches
from anon_sql.core.labels.reading import Ints
from anon_sql.core.parameters import Choice, Number, Whole, declare, param, read_group
from anon_sql.errors import AnonError, Parameter
from anon_sql.measures.classes import dominance
from anon_sql.measures.pair import PairColumns, SensitiveColumns
from anon_sql.privacy.class_values import ClassValues

LINKED = pa.struct(
    [
        ("attribute", pa.string()),
        ("persons", pa.int64()),
        ("reidentified", pa.float64()),
        ("reidentified_share", pa.float64()),
        ("disclosed", pa.int64()),
        ("disclosed_share", pa.float64()),
    ]
)


declare("attack_linking", Sample, SensitiveColumns, PairColumns)
declare("attack_homogeneity", SensitiveColumns, PairColumns)


def linking(people: People, left_out: int, arguments: Mapping[str, Any], threads: int) -> pa.Table:
    """Return a row of ``LINKED`` for each sensitive column, or raise AnonError.

    left_out: number of rows that the release leaves out. Each can belong to anyone, so it counts
    among the matching rows, but it shows no sensitive value. arguments: the parameters of
    ``Sample``.
    """
    persons, _ = people.sampled(read_group(Sample, people.function, arguments))
    all_columns = np.broadcast_to(
        np.arange(len(people.columns)), (len(persons), len(people.columns))
    )
    matched = matches(people, persons, all_columns.copy(), threads)
    rows = matched.rows + max(left_out, 0)
    reidentified = float((1 / rows[rows > 0]).sum())
    disclosed = ((matched.varied == 1) & (matched.persons_value > 0)).sum(axis=0)
    many = len(persons)
    table_rows = [
        {
            "attribute": name,
            "persons": many,
            "reidentified": reidentified,
            "reidentified_share": reidentified / many if many else None,
            "disclosed": int(disclosed[position]),
            "disclosed_share": disclosed[position] / many if many else None,
        }
        for position, name in enumerate(people.sensitive)
    ]
    return pa.Table.from_pylist(table_rows, pa.schema(list(LINKED)))


@dataclass(frozen=True)
class Skewness:
    """The parameters of ``attack_skewness``."""

    threshold: float = param(
        0.5,
        Number(0, 1),
        "a class is exposed if the share of one value in it exceeds this, 0…1. Above 0.5 a guess "
        "is right for most of its rows; raise it if a value has a larger share in the whole table",
    )


declare("attack_skewness", Skewness, SensitiveColumns, PairColumns)
EXPOSURE = pa.struct(
    [
        ("attribute", pa.string()),
        ("classes", pa.int64()),
        ("exposed_classes", pa.int64()),
        ("class_share", pa.float64()),
        ("rows", pa.int64()),
        ("exposed_rows", pa.int64()),
        ("row_share", pa.float64()),
    ]
)


def exposure(spreads: Mapping[str, ClassValues], threshold: float | None) -> pa.Table:
    """Return a row of ``EXPOSURE`` for each sensitive column; NULL is not a value.

    threshold: a class is exposed if it has two or more values, one of them with a larger share than
    this. None: a class is exposed if it has at most one value (Machanavajjhala et al. 2006; Li et
    al. 2007).
    """
    table_rows = []
    for name, spread in spreads.items():
        sizes, many = spread.sizes, len(spread.starts)
        values, share = dominance(spread)
        exposed = values < 2
        if threshold is not None:
            exposed = ~exposed & (share > threshold)
        rows, exposed_rows = int(sizes.sum()), int(sizes[exposed].sum())
        table_rows.append(
            {
                "attribute": name,
                "classes": many,
                "exposed_classes": int(exposed.sum()),
                "class_share": exposed.sum() / many if many else None,
                "rows": rows,
                "exposed_rows": exposed_rows,
                "row_share": exposed_rows / rows if rows else None,
            }
        )
    return pa.Table.from_pylist(table_rows, pa.schema(list(EXPOSURE)))


def majority(people: People) -> tuple[npt.NDArray[np.float64], Ints]:
    """Return the number of right guesses per sensitive column, float64[s] and int64[s].

    The first attacker guesses the most frequent value of each class, the second the most frequent
    value of the release, for all rows. Source: the program that the authors of SDkA have published
    (Majeed and Hwang 2025). Departure: NULL is not a value and is never guessed.
    """
    columns = len(people.sensitive)
    of_class = np.repeat(np.arange(len(people.sizes)), np.diff(people.starts))
    of_column = people.column_of[people.values]
    most = np.zeros((len(people.sizes), columns))
    np.maximum.at(most, (of_class, of_column), people.counts)
    common = np.zeros(columns, dtype=np.int64)
    np.maximum.at(common, people.column_of, people.value_counts)
    return most.sum(axis=0), common


GUESSED = pa.struct(
    [
        ("attribute", pa.string()),
        ("persons", pa.int64()),
        ("guessed", pa.float64()),
        ("guessed_share", pa.float64()),
        ("baseline", pa.float64()),
    ]
)


@dataclass(frozen=True)
class Background(Sample):
    """The parameters of ``attack_background``."""

    known: int = param(
        2, Whole(0), "number of a person's quasi-identifiers that the attacker knows, from 0 to all"
    )
    mode: str = param(
        "matching",
        Choice(("matching", "majority")),
        "'matching', or 'majority' for an attacker who knows which class each released row is in. "
        "That attacker guesses the most frequent value of the class, as the program of the paper's "
        "authors does; known, sample and seed then have no effect",
    )


declare("attack_background", Background, SensitiveColumns, PairColumns)


def background(people: People, arguments: Mapping[str, Any], threads: int) -> pa.Table:
    """Return a row of ``GUESSED`` for each sensitive column, or raise AnonError.

    arguments: the parameters of ``Background``, which also describes 'majority'.
    """
    options = read_group(Background, people.function, arguments)
    many, columns = options.known, len(people.columns)
    if many > columns:
        rule = Parameter("known") + " must be at most the number of quasi-identifiers"
        raise AnonError(people.function, rule, f"{many} of {columns}")
    persons, draw = people.sampled(options)
    if options.mode == "majority":
        return _guess_rows(people, int(people.sizes.sum()), *majority(people))
    chosen = draw.random((len(persons), columns)).argsort(axis=1)[:, :many]
    matched = matches(people, persons, np.ascontiguousarray(chosen), threads)
    right = (matched.persons_value > 0) & (matched.persons_value == matched.most)
    guessed = (right / np.maximum(matched.ties, 1)).sum(axis=0)
    return _guess_rows(people, len(persons), guessed, _baseline(people, persons))


def _guess_rows(
    people: People, persons: int, guessed: npt.NDArray[np.float64], baseline: Sequence[float] | Ints
) -> pa.Table:
    rows = [
        {
            "attribute": name,
            "persons": persons,
            "guessed": float(guessed[position]),
            "guessed_share": guessed[position] / persons if persons else None,
            "baseline": baseline[position] / persons if persons else None,
        }
        for position, name in enumerate(people.sensitive)
    ]
    return pa.Table.from_pylist(rows, pa.schema(list(GUESSED)))


def _baseline(people: People, persons: Ints) -> list[float]:
    """Return, per sensitive column, how many people a guess of its most frequent value is right
    for.

    If several values are most frequent, one of them is guessed at random.
    """
    columns = zip(people.person_values[persons].T, people.commonest_values(), strict=True)
    return [
        float(np.isin(values, common).sum() / max(len(common), 1)) for values, common in columns
    ]
