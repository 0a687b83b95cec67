"""Suggest a role for every column of a table, with the reason in words.

The rules are this project's own (``role_rules``). Columns that no rule applies to may be kept as
long as they do not single rows out together: those that tell rows apart best become
quasi-identifiers until the rest do not. The reasons contain counts and no value.
"""

from collections.abc import Sequence

import pyarrow as pa

from anon_sql.core.columns import shown_type
from anon_sql.suggest.role_rules import TELLING, Shape, Suggested, suggested
from anon_sql.suggest.unique_counts import Marks, Together, counts_of, unique_count

SUGGESTION = pa.struct(
    [
        *((name, pa.string()) for name in ("column_name", "column_type", "role", "reason")),
        ("distinct_values", pa.int64()),
        *((name, pa.float64()) for name in ("null_share", "unique_share", "adds_share")),
    ]
)


def shape_of(name: str, sql_type: str, marks: Marks, nulls: int, sample: list[str]) -> Shape:
    """Return a column as the rules see it; marks: a hash of each value, uint64[n]."""
    return Shape(name, sql_type, len(marks), nulls, counts_of(marks), sample)


def suggest_roles(shapes: Sequence[Shape], marks: Sequence[Marks]) -> pa.Array:
    """Return an array of ``SUGGESTION`` with an entry per column, in the order given."""
    rows = shapes[0].rows if shapes else 0
    together = Together(marks, rows)
    found = [suggested(shape) for shape in shapes]
    loose = [at for at, one in enumerate(found) if one is None]
    rest = dict(zip(loose, _of_loose([shapes[at] for at in loose], loose, together), strict=True))
    chosen = [rest[at] if one is None else one for at, one in enumerate(found)]
    others = [at for at, one in enumerate(chosen) if one.role != "identifier"]
    adds = together.unique_by(others)
    return pa.array(
        [
            {
                "column_name": shape.name,
                "column_type": shown_type(shape.sql_type),
                "role": one.role,
                "reason": one.reason,
                "distinct_values": shape.values,
                "null_share": shape.nulls / rows if rows else None,
                "unique_share": shape.unique_share if rows else None,
                "adds_share": added / rows if rows else None,
            }
            for shape, one, added in zip(shapes, chosen, adds, strict=True)
        ],
        SUGGESTION,
    )


def _of_loose(shapes: Sequence[Shape], at: Sequence[int], together: Together) -> list[Suggested]:
    """Return the suggestions for columns that no rule applies to.

    at: indices of these columns in ``together``.
    """
    if not shapes or not shapes[0].rows:
        return [Suggested("quasi", "no known name, and no rows to look at")] * len(shapes)
    rows = shapes[0].rows
    by_pairs = sorted(range(len(shapes)), key=lambda i: (shapes[i].counts.pairs, i))

    def share(first: int) -> float:
        """Return the share of rows that all but the first columns of the order single out."""
        return unique_count(together.of([at[i] for i in by_pairs[first:]])) / rows

    low, high = 0, len(shapes)  # the fewest columns to generalize; the share falls with each
    while low < high:
        middle = (low + high) // 2
        if share(middle) <= TELLING:
            high = middle
        else:
            low = middle + 1
    telling, singled_out = set(by_pairs[:low]), share(0) if low else 0.0
    together_with = f"the columns of unknown name together single out {singled_out:.1%} of the rows"
    return [
        Suggested("quasi", together_with)
        if i in telling
        else Suggested("keep", "no known name, and it hardly singles rows out")
        if shape.held
        else Suggested("keep", "no known name and no value")
        for i, shape in enumerate(shapes)
    ]
