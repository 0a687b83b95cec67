"""Audit the kept columns of a release: pseudonyms, rare combinations of values, and columns that
quasi-identifiers determine or that determine a sensitive column."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from anon_sql import kernels
from anon_sql.audit.classes import person_rows
from anon_sql.audit.compared import (
    Compared,
    Marks,
    Property,
    Raw,
    is_at_most,
    named,
    no_columns,
    undecided,
    weighed,
)
from anon_sql.errors import listed
from anon_sql.measures.determined import (
    NEARLY,
    SAMPLE_ROWS,
    Ints,
    avoided_errors,
    determines,
    keys_of,
    mode,
    numbered,
)
from anon_sql.measures.person_keys import Identifier
from anon_sql.measures.uniqueness import (
    RARE_SHARE,
    Hashes,
    counts,
    few_together,
    steps_text,
)
from anon_sql.privacy.model import figures, many

UNIQUE_ONES = "identifying_combinations"
RARE, DETERMINED, REVEALING = "rare_combinations", "determined_columns", "revealing_columns"

MANY_KEYS, FEW_ROWS = 20, 50  # a key has many values, and each of them not too many rows
_PSEUDONYMS = (
    "No column holds pseudonyms.",
    "1 column holds pseudonyms, by which releases can be joined.",
    "{} columns hold pseudonyms, by which releases can be joined.",
)


def linking_columns(compared: Compared) -> Property:
    """Return the columns whose values are all 64 hexadecimal digits, as of ``anon_pseudonym``.

    A person has one pseudonym in every release with the same key, so a reader of two releases can
    join them. That may be intended or a leak, so the property is undecided.
    """
    request = compared.request
    names = [*request.shared, *request.added]
    hashed = [name for name in names if compared.released.view(name).hashed]
    row = no_columns("pseudonyms", hashed, _PSEUDONYMS)
    return undecided(row) if hashed else row


def identifying_combinations(compared: Compared) -> Property:
    """Return the share of rows that are unique on all columns without labels.

    Sensitive columns do not count. Columns that the raw table lacks do.
    """
    request = compared.request
    kept = kept_columns(compared)
    row = unique_at_most(
        request.unique_share, kept, compared.repeated_marks, compared.released_rows
    )
    keys = repeated_keys(compared, kept)
    if not keys:
        return row
    hint = f"{listed(keys)} repeats as a key of persons would, whom linked_audit counts"
    return replace(row, meaning=f"{row.meaning.removesuffix('.')}; {hint}.")


def repeated_keys(compared: Compared, kept: Sequence[str]) -> list[str]:
    """Return kept columns by which several rows may be tied to one person.

    They are whole numbers, UUIDs or pseudonyms with many values and few rows per value. With
    ``entity``, k counts people and no column is returned.
    """
    request, rows = compared.request, compared.released_rows
    if request.entity is not None:
        return []
    keys = []
    for name in kept:
        if name not in request.keys and not compared.released.view(name).hashed:
            continue
        single, distinct = counts(compared.repeated_marks(name).copy())
        if single < distinct and MANY_KEYS <= distinct < rows <= FEW_ROWS * distinct:
            keys.append(name)
    return keys


def unique_sentence(
    share: float,
    names: Sequence[str],
    hashes_of: Callable[[str], Hashes],
    rows: int,
    k: int | None = None,
) -> str | None:
    """Return a warning about rows that few others equal on all columns; None if there is none.

    The other arguments are those of ``unique_at_most``. k: the least number of rows of a class. If
    no row is unique, combinations of fewer than k rows count if their share exceeds ``RARE_SHARE``.
    """
    row = unique_at_most(share, names, hashes_of, rows)
    if not names or row.found is None:
        return None
    if not row.passed:
        unique = round(row.found * rows)
        rows_are = "1 row is" if unique == 1 else f"{unique:,} rows are"
        return (
            f"{rows_are} unique on the kept columns together, {row.found:.1%} of the release: "
            f"{row.example}; anyone who knows these values finds the row"
        )
    rare = 0 if k is None or k <= 2 else few_together(names, hashes_of, k)[0]
    if not rare or rare <= max(RARE_SHARE, share) * rows:
        return None
    return (
        f"{rare:,} rows have values of the kept columns together that fewer than {k:,} rows have, "
        f"{rare / rows:.1%} of the release: {listed(names)}"
    )


def unique_at_most(
    share: float, names: Sequence[str], hashes_of: Callable[[str], Hashes], rows: int
) -> Property:
    """Return the share of rows that are unique on all columns, and the columns that contribute
    most.

    An attacker who knows these values of a person finds the row, whatever its class. hashes_of:
    returns the hashes of a column's values. rows: number of rows. share: the largest that passes.
    """
    unique, steps = few_together(names, hashes_of)
    unique_share = unique / rows if rows else 0.0
    passed = is_at_most(share, unique_share)
    if not unique:
        meaning = "No row is unique on the kept columns together."
    else:
        limit = f"{figures(share * 100, 100)[0]}% may be" if share else "none may be"
        are = "is" if unique == 1 else "are"
        meaning = (
            f"{unique:,} of {many(rows, 'row')} {are} unique on the kept columns together; {limit}."
        )
    example = steps_text(steps, rows)
    return Property(UNIQUE_ONES, share, unique_share, passed, meaning, example)


def kept_columns(compared: Compared) -> list[str]:
    """Return the columns without labels that are not sensitive, and those that the release adds."""
    request = compared.request
    return [name for name in (*request.shared, *request.added) if name not in request.values]


def beside_classes(compared: Compared, identifiers: list[Identifier]) -> Iterator[Property]:
    """Yield the properties of kept columns that disclose more than the classes do.

    identifiers: of the raw table. Whether the disclosure matters depends on what attackers know, so
    each property is undecided.
    """
    kept = kept_columns(compared)
    if not kept or not compared.released_rows or not compared.rows:
        return
    people = person_rows(compared, identifiers)
    yield from _rare(compared, kept, people)
    shared = [name for name in kept if name in compared.request.shared]
    shared = [name for name in shared if name != compared.request.entity]
    if shared:
        evidence = _evidence(compared, people)
        yield from _determined(compared, shared, evidence)
        yield from _revealing(compared, shared, evidence)


def _rare(
    compared: Compared, kept: Sequence[str], people: tuple[Raw, Marks] | None
) -> Iterator[Property]:
    """Yield the share of rows, or people, whose kept values fewer than k have."""
    k = max(compared.request.k or 0, 2)
    if people is None:
        noun, rows = "row", compared.released_rows
        rare, steps = few_together(kept, lambda name: compared.repeated_marks(name, k), k)
    else:
        raw, owners = people
        shared = [name for name in kept if name in compared.request.shared]
        combination = np.zeros(len(owners), np.uint64)
        for name in shared:
            combination = kernels.hashing.mix(
                combination, named(raw.marks, name).hashes().view(np.int64)
            )
        once = np.unique(np.stack([combination, owners]), axis=1)[
            0
        ]  # each combination once per person
        noun, rows = "person", len(once)
        rare, _ = counts(once, k)
        _, steps = few_together(shared, lambda name: named(raw.marks, name).hashes().copy(), k)
    if not rare:
        return
    meaning = (
        f"{rare:,} of {many(rows, noun)} {'shares' if rare == 1 else 'share'} the values of the "
        f"kept columns with fewer than {k - 1:,} others."
    )
    example = ", ".join(step.column for step in steps) or ", ".join(kept)
    yield undecided(Property(RARE, k, rare / rows, False, meaning, example))


class _Evidence(NamedTuple):
    """Rows that show how columns depend on each other: one per person, at most about
    ``SAMPLE_ROWS``.

    raw: all raw rows. rows: positions of the sampled ones. rows_per_person: the mean.
    """

    raw: Raw
    rows: Ints
    rows_per_person: float


def _evidence(compared: Compared, people: tuple[Raw, Marks] | None) -> _Evidence:
    if people is None:
        raw = compared.raw
        rows = np.repeat(np.arange(len(raw.weights)), raw.weights)
    else:
        raw, owners = people
        rows = np.sort(np.unique(owners, return_index=True)[1])
    return _Evidence(raw, rows[:: len(rows) // SAMPLE_ROWS + 1], compared.rows / len(rows))


def _determined(compared: Compared, kept: Sequence[str], evidence: _Evidence) -> Iterator[Property]:
    """Yield the share of rows that a kept column singles out within their class.

    An attacker computes the column from quasi-identifiers, or a quasi-identifier from it. A row is
    singled out if fewer than k rows of its class have its value, or if all of these have one
    sensitive value although the class has several.
    """
    raw, rows, rows_per_person = evidence
    quasi = {
        name: numbered(column.codes[raw.places[name][rows]])
        for name, column in compared.columns.items()
    }
    keys = [key for _, key in keys_of(quasi)]
    groups, names = compared.class_of.astype(np.int64), []
    for name in kept:
        value_marks, places = named(raw.marks, name).select(rows).coded()
        value = numbered(places)
        if any(determines(key, value) for key in keys):
            parts = [numbered(compared.marks(name))]
        else:
            value_marks = value_marks[np.unique(places)]
            parts = [
                _computed(compared.marks(name), value_marks, mode(value, key))
                for key in quasi.values()
                if determines(value, key)
            ]
        names += [name] if parts else []
        for part in parts:
            groups = numbered(groups * (int(part.max(initial=0)) + 1) + part)
    if not names:
        return
    k, weights = max(compared.request.k or 0, 2), compared.released.weights
    sizes = weighed(groups, weights, int(groups.max(initial=-1)) + 1)[groups]
    of_class = compared.sizes[compared.class_of]
    few = sizes < k * rows_per_person
    for sensitive in compared.request.values:
        values = numbered(compared.marks(sensitive))
        few |= (_different(groups, values) == 1) & (_different(compared.class_of, values) > 1)
    row_count = int(weights[few & (sizes < of_class)].sum())
    if not row_count:
        return
    meaning = (
        f"{row_count:,} of {many(compared.released_rows, 'row')} "
        f"{'stands' if row_count == 1 else 'stand'} "
        f"out of their class by {listed(names)}, which can be computed from quasi-identifiers."
    )
    share = row_count / compared.released_rows
    yield undecided(Property(DETERMINED, k, share, False, meaning, ", ".join(names)))


def _computed(marks: Marks, value_marks: Marks, values: Ints) -> Ints:
    """Return the code that is computed from each row's value, plus 1; 0 for an unknown value.

    marks: a hash of each row's value. value_marks: the hashes of known values. values: the code
    that is computed from each known value.
    """
    order = np.argsort(value_marks)
    position = np.minimum(np.searchsorted(value_marks[order], marks), len(value_marks) - 1)
    return np.where(value_marks[order][position] == marks, values[order[position]] + 1, 0)


def _different(groups: Ints, values: Ints) -> Ints:
    """Return, per row, the number of distinct values in its group."""
    width = int(values.max(initial=0)) + 1
    once = np.unique(groups.astype(np.int64) * width + values) // width
    return np.bincount(once, minlength=int(groups.max(initial=-1)) + 1)[groups]


def _revealing(compared: Compared, kept: Sequence[str], evidence: _Evidence) -> Iterator[Property]:
    """Yield the kept columns that determine a sensitive column, exactly or nearly."""

    def codes(name: str) -> Ints:
        return numbered(named(evidence.raw.marks, name).select(evidence.rows).coded()[1])

    determined = []
    keys = list(keys_of({name: codes(name) for name in kept}))
    for sensitive in compared.request.values:
        values = codes(sensitive)
        share, names = max(
            ((avoided_errors(key, values), names) for names, key in keys), key=lambda e: e[0]
        )
        if share >= NEARLY:
            determined.append((share, names, sensitive))
    if not determined:
        return
    sentence = "; ".join(
        f"{sensitive} can be computed from {listed(names)}" for _, names, sensitive in determined
    )
    example = ", ".join(dict.fromkeys(name for _, names, _ in determined for name in names))
    share = max(share_of for share_of, _, _ in determined)
    yield undecided(
        Property(REVEALING, None, share, False, f"{sentence[:1].upper()}{sentence[1:]}.", example)
    )
