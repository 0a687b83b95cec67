"""Hashes and sort keys of values, as SQL.

DuckDB calls ``hash`` internal and does not promise the bytes of ``create_sort_key``. Hashes decide
the order of rows, vantage points, samples and regions, so that equal releases need equal hashes.
Sort keys are only compared with each other.
"""

import re
from collections.abc import Iterable, Mapping

# Rises when the hash of a row changes, or the canonical order; __anon_row_hash_version() in SQL.
ROW_HASH = 2
HASH = "system.main.hash"
_FLOATS = ("FLOAT", "DOUBLE")
# types of which values that print differently hash differently everywhere
_DISTINGUISHED = re.compile(
    r"(?s)U?(TINYINT|SMALLINT|INTEGER|BIGINT)|DECIMAL\((1[0-8]|[1-9]),.*\)|VARCHAR|JSON"
    r"|BOOLEAN|ENUM\(.*\)|DATE|TIME|TIME_NS|TIMESTAMP(_S|_MS|_NS| WITH TIME ZONE)?|BLOB"
    r'|"NULL"'
)
_UNSTEADY = re.compile(r"\b(BIT|TIME WITH TIME ZONE)\b")  # their hashes depend on the version
_WIDE = re.compile(r"U?HUGEINT|UUID|DECIMAL\((19|[23][0-9]),.*")  # 128 bits, hashed as text
_PRINTED = re.compile(r"(?s)VARIANT|ENUM\(.*\)")  # hashed as text, as SQL does


def hash_of(values: Iterable[str]) -> str:
    """Return the hash of one or more SQL expressions together, a UBIGINT.

    Texts must not have a collation, which DuckDB 2.0.1 and later hash by.
    """
    return f"{HASH}({', '.join(values)})"


def row_hash(kept: Mapping[str, str]) -> str:
    """Return the hash of the kept columns of a row, as ``__anon_row_hashed`` in SQL computes it.

    Rows that print differently have different hashes: if ``hash`` alone does not distinguish
    values, their text is hashed too.

    kept: SQL types by quoted name, in the order of the table.
    """
    values = [_steady(name, kind) for name, kind in kept.items()]
    plain = hash_of(["''", *values, "0::TINYINT"])  # SQL adds a column of 0, so that there is one
    texts = [_told_apart(name, kind) for name, kind in kept.items()]
    printed_texts = [text for text in texts if text != "NULL"]
    if not printed_texts:
        return plain
    extended = hash_of([plain, hash_of([*texts, "NULL"])])
    return (
        f"CASE WHEN coalesce({', '.join(printed_texts)}) IS NULL THEN {plain} ELSE {extended} END"
    )


def _steady(name: str, kind: str) -> str:
    """Return a value for its hash, or NULL if its text alone counts."""
    if not hashes_apart(kind) and _UNSTEADY.search(kind):
        return f"NULL::{kind}"  # a list that is NULL has a hash of its own
    return f"{name}::VARCHAR" if _PRINTED.fullmatch(kind) else name


def _told_apart(name: str, kind: str) -> str:
    """Return the text of a value if values that print differently can have its hash, or NULL."""
    if kind in _FLOATS:
        return (
            f"CASE WHEN signbit({name}) AND ({name} = 0 OR isnan({name})) THEN {name}::VARCHAR END"
        )
    return "NULL" if hashes_apart(kind) else f"{name}::VARCHAR"


def mark(name: str, kind: str) -> str:
    """Return the hash of a value, as ``__anon_mark`` in SQL computes it; NULL for NULL."""
    value = f"{name}::VARCHAR" if _WIDE.fullmatch(kind) or _PRINTED.fullmatch(kind) else name
    return f"CASE WHEN {name} IS NOT NULL THEN {hash_of([value])} END"


def hashes_apart(kind: str) -> bool:
    """Return whether values of a SQL type that print differently have different hashes."""
    return _DISTINGUISHED.fullmatch(kind) is not None


def sort_key(value: str) -> str:
    """Return the sort key of a SQL expression: bytes in the order of its values, '' for NULL.

    Equal values have equal keys.
    """
    key = f"create_sort_key([{value}], 'ASC NULLS FIRST')"
    return f"CASE WHEN {value} IS NULL THEN ''::BLOB ELSE {key} END"


def hashed(relation: str) -> str:
    """Return SQL of the rows of a relation with ``__anon_row``, as ``__anon_sampled`` does."""
    return f"(SELECT *, system.main.hash(*COLUMNS(*)) AS __anon_row FROM {relation})"
