"""Audit the kept columns of a release: pseudonyms, rows that few others equal on all of them, and
columns that quasi-identifiers determine or that determine a sensitive one."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from anon_sql import kernels
from anon_sql.audit.classes import person_rows
from anon_sql.audit.compared import (
    Compared,
    Marks,
    Property,
    Raw,
    named,
    no_columns,
    untold,
    weighed,
    within,
)
from anon_sql.errors import listed
from anon_sql.measures.determined import (
    NEARLY,
    SOME,
    Ints,
    avoided,
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

    The rows of one person have one pseudonym, in every release with the same key: who has two
    releases can join what both say. Some releases want that, and in others it is a leak. The tables
    do not tell which, so the property is undecided.
    """
    request = compared.request
    names = [*request.shared, *request.added]
    hashed = [name for name in names if compared.released.view(name).hashed]
    row = no_columns("pseudonyms", hashed, _PSEUDONYMS)
    return untold(row) if hashed else row


def identifying_combinations(compared: Compared) -> Property:
    """Return the property of a release: all columns without a label are counted, sensitive ones
    excepted.

    Columns that the raw table lacks are counted too.
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

    They are whole numbers, UUIDs or pseudonyms of many values with few rows each. k then counts
    rows, and not persons; where ``entity`` was given it counts persons, and there are none.
    """
    request, rows = compared.request, compared.released_rows
    if request.entity is not None:
        return []
    found = []
    for name in kept:
        if name not in request.keys and not compared.released.view(name).hashed:
            continue
        single, distinct = counts(compared.repeated_marks(name).copy())
        if single < distinct and MANY_KEYS <= distinct < rows <= FEW_ROWS * distinct:
            found.append(name)
    return found


def unique_sentence(
    share: float,
    names: Sequence[str],
    hashes_of: Callable[[str], Hashes],
    rows: int,
    k: int | None = None,
) -> str | None:
    """Return a sentence about the rows that few others equal on all columns; None if they may be.

    The arguments are those of ``unique_at_most``. k: the fewest rows of a class. If no row is
    unique, combinations that fewer than k rows have are told from ``RARE_SHARE`` on.
    """
    looked = unique_at_most(share, names, hashes_of, rows)
    if not names or looked.found is None:
        return None
    if not looked.passed:
        unique = round(looked.found * rows)
        one = "1 row is" if unique == 1 else f"{unique:,} rows are"
        return (
            f"{one} unique on the kept columns together, {looked.found:.1%} of the release: "
            f"{looked.example}; anyone who knows these values finds the row"
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
    """Return the share of rows that are unique on all columns, and the columns that do most of it.

    An attacker who knows these values of a person finds the row, whatever its class. hashes_of: a
    hash of each value of a column; rows: how many; share: the largest that passes.
    """
    unique, steps = few_together(names, hashes_of)
    found = unique / rows if rows else 0.0
    passed = within(share, found)
    if not unique:
        meaning = "No row is unique on the kept columns together."
    else:
        limit = f"{figures(share * 100, 100)[0]}% may be" if share else "none may be"
        are = "is" if unique == 1 else "are"
        meaning = (
            f"{unique:,} of {many(rows, 'row')} {are} unique on the kept columns together; {limit}."
        )
    example = steps_text(steps, rows)
    return Property(UNIQUE_ONES, share, found, passed, meaning, example)


def kept_columns(compared: Compared) -> list[str]:
    """Return the columns without labels that are not sensitive, and those that the release adds."""
    request = compared.request
    return [name for name in (*request.shared, *request.added) if name not in request.values]


def beside_classes(compared: Compared, known: list[Identifier]) -> Iterator[Property]:
    """Yield what the kept columns tell beside the classes, if they tell anything.

    known: the identifiers of the raw table. Whether it matters depends on what others know, so each
    property is undecided.
    """
    kept = kept_columns(compared)
    if not kept or not compared.released_rows or not compared.rows:
        return
    people = person_rows(compared, known)
    yield from _rare(compared, kept, people)
    shared = [name for name in kept if name in compared.request.shared]
    shared = [name for name in shared if name != compared.request.entity]
    if shared:
        looked = _looked_at(compared, people)
        yield from _determined(compared, shared, *looked)
        yield from _revealing(compared, shared, *looked[:2])


def _rare(
    compared: Compared, kept: Sequence[str], people: tuple[Raw, Marks] | None
) -> Iterator[Property]:
    """Give the share of rows, or people, whose kept values fewer than k have."""
    k = max(compared.request.k or 0, 2)
    if people is None:
        noun, rows = "row", compared.released_rows
        found, steps = few_together(kept, lambda name: compared.repeated_marks(name, k), k)
    else:
        raw, who = people
        shared = [name for name in kept if name in compared.request.shared]
        own = np.zeros(len(who), np.uint64)
        for name in shared:
            own = kernels.hashing.mix(own, named(raw.marks, name).at().view(np.int64))
        once = np.unique(np.stack([own, who]), axis=1)[0]  # each combination once per person
        noun, rows = "person", len(once)
        found, _ = counts(once, k)
        _, steps = few_together(shared, lambda name: named(raw.marks, name).at().copy(), k)
    if not found:
        return
    meaning = (
        f"{found:,} of {many(rows, noun)} {'shares' if found == 1 else 'share'} the values of the "
        f"kept columns with fewer than {k - 1:,} others."
    )
    example = ", ".join(step.column for step in steps) or ", ".join(kept)
    yield untold(Property(RARE, k, found / rows, False, meaning, example))


def _looked_at(compared: Compared, people: tuple[Raw, Marks] | None) -> tuple[Raw, Ints, float]:
    """Return the raw rows, which of them say how columns depend on each other, and how many rows a
    person has. It is one row of each person, and of many only some."""
    if people is None:
        raw = compared.raw
        rows = np.repeat(np.arange(len(raw.weights)), raw.weights)
    else:
        raw, who = people
        rows = np.sort(np.unique(who, return_index=True)[1])
    return raw, rows[:: len(rows) // SOME + 1], compared.rows / len(rows)


def _determined(
    compared: Compared, kept: Sequence[str], raw: Raw, rows: Ints, rows_per_person: float
) -> Iterator[Property]:
    """Give the share of rows that a kept column takes out of their class, because an attacker
    computes it from quasi-identifiers, or a quasi-identifier from it.

    The other rows of the class that have the same value of it are fewer than k, or all have one
    sensitive value although the class has several.
    """
    quasi = {
        name: numbered(column.codes[raw.places[name][rows]])
        for name, column in compared.columns.items()
    }
    keys = [key for _, key in keys_of(quasi)]
    groups, names = compared.class_of.astype(np.int64), []
    for name in kept:
        known, places = named(raw.marks, name).select(rows).coded()
        value = numbered(places)
        if any(determines(key, value) for key in keys):
            parts = [numbered(compared.marks(name))]
        else:
            known = known[np.unique(places)]
            parts = [
                _computed(compared.marks(name), known, mode(value, key))
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
    found = int(weights[few & (sizes < of_class)].sum())
    if not found:
        return
    meaning = (
        f"{found:,} of {many(compared.released_rows, 'row')} {'stands' if found == 1 else 'stand'} "
        f"out of their class by {listed(names)}, which can be computed from quasi-identifiers."
    )
    share = found / compared.released_rows
    yield untold(Property(DETERMINED, k, share, False, meaning, ", ".join(names)))


def _computed(marks: Marks, known: Marks, values: Ints) -> Ints:
    """Return what is computed from the value of each row, 0 if it is not known.

    known: the hash of each value by its number; values: what is computed from it.
    """
    order = np.argsort(known)
    at = np.minimum(np.searchsorted(known[order], marks), len(known) - 1)
    return np.where(known[order][at] == marks, values[order[at]] + 1, 0)


def _different(groups: Ints, values: Ints) -> Ints:
    """Return of each row how many different values its group has."""
    width = int(values.max(initial=0)) + 1
    once = np.unique(groups.astype(np.int64) * width + values) // width
    return np.bincount(once, minlength=int(groups.max(initial=-1)) + 1)[groups]


def _revealing(compared: Compared, kept: Sequence[str], raw: Raw, rows: Ints) -> Iterator[Property]:
    """Give the kept columns that determine a sensitive one, exactly or nearly."""

    def codes(name: str) -> Ints:
        return numbered(named(raw.marks, name).select(rows).coded()[1])

    told = []
    keys = list(keys_of({name: codes(name) for name in kept}))
    for sensitive in compared.request.values:
        values = codes(sensitive)
        share, names = max(
            ((avoided(key, values), names) for names, key in keys), key=lambda e: e[0]
        )
        if share >= NEARLY:
            told.append((share, names, sensitive))
    if not told:
        return
    said = "; ".join(
        f"{sensitive} can be computed from {listed(names)}" for _, names, sensitive in told
    )
    example = ", ".join(dict.fromkeys(name for _, names, _ in told for name in names))
    share = max(each for each, _, _ in told)
    yield untold(Property(REVEALING, None, share, False, f"{said[:1].upper()}{said[1:]}.", example))
