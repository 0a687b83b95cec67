"""Audit the kept columns of a release: pseudonyms, and rows that are unique on all of them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from anon_sql.audit.compared import Compared, Property, no_columns, untold, within
from anon_sql.errors import listed
from anon_sql.measures.uniqueness import Hashes, counts, steps_text, unique_together
from anon_sql.privacy.model import figures, many

MANY_KEYS, FEW_ROWS = 20, 50  # a key has many values, and each of them not too many rows
_PSEUDONYMS = (
    "No column holds pseudonyms.",
    "1 column holds pseudonyms, by which releases can be joined.",
    "{} columns hold pseudonyms, by which releases can be joined.",
)


def linking_columns(compared: Compared) -> Property:
    """Return the columns whose values are all 64 hexadecimal digits, as of ``anon_pseudonym``.

    The rows of one person have one pseudonym, in every release with the same key: whoever has two
    of them joins what both say. That is wanted in some releases and a leak in others, which the
    tables do not tell, so it is no failure but undecided.
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
    kept = [name for name in (*request.shared, *request.added) if name not in request.values]
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
    share: float, names: Sequence[str], hashes_of: Callable[[str], Hashes], rows: int
) -> str | None:
    """Return a sentence about the rows that are unique on all columns; None if they may be.

    The arguments are those of ``unique_at_most``.
    """
    looked = unique_at_most(share, names, hashes_of, rows)
    if not names or looked.passed or looked.found is None:
        return None
    unique = round(looked.found * rows)
    one = "1 row is" if unique == 1 else f"{unique:,} rows are"
    return (
        f"{one} unique on the kept columns together, {looked.found:.1%} of the release: "
        f"{looked.example}; anyone who knows these values finds the row"
    )


def unique_at_most(
    share: float, names: Sequence[str], hashes_of: Callable[[str], Hashes], rows: int
) -> Property:
    """Return the share of rows that are unique on all columns, and the columns that do most of it.

    Whoever knows these values of a person finds the row, whatever its class. hashes_of: a
    hash of each value of a column; rows: how many; share: the largest that passes.
    """
    unique, steps = unique_together(names, hashes_of)
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
    return Property("identifying combinations", share, found, passed, meaning, example)
