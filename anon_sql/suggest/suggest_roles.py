"""Suggest a role for every column of a table, with the reason in words.

The rules are this project's own (``role_rules``). Columns that no rule applies to are kept, the
one that tells rows apart least first, as long as they single out no more rows together than
``audit`` allows; the others become quasi-identifiers. The reasons contain counts and no value.
"""

from collections.abc import Sequence

import pyarrow as pa

from anon_sql.core.columns import shown_type
from anon_sql.measures.uniqueness import UNIQUE_SHARE
from anon_sql.suggest.role_rules import Shape, Suggested, suggested
from anon_sql.suggest.unique_counts import Marks, Together, counts_of, unique_count

SUGGESTION = pa.struct(
    [
        *((name, pa.string()) for name in ("column_name", "column_type", "role", "reason")),
        ("distinct_values", pa.int64()),
        *((name, pa.float64()) for name in ("null_share", "unique_share", "adds_share")),
    ]
)


def shape_of(
    name: str, sql_type: str, marks: Marks, nulls: int, sample: list[str], consecutive: bool
) -> Shape:
    """Return a column as the rules see it; marks: a hash of each value, uint64[n]."""
    return Shape(name, sql_type, len(marks), nulls, counts_of(marks), sample, consecutive)


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
    least_first = sorted(range(len(shapes)), key=lambda i: (-shapes[i].counts.pairs, i))
    kept = together.of([])
    telling: dict[int, int] = {}
    for i in least_first:
        more = kept + together.of([at[i]])
        unique = unique_count(more)
        if unique > UNIQUE_SHARE * rows:
            telling[i] = unique
        else:
            kept = more
    return [
        Suggested(
            "quasi",
            f"no known name, and with the kept columns it singles out {telling[i]:,} of "
            f"{rows:,} rows",
        )
        if i in telling
        else Suggested("keep", "no known name, and it singles out no row")
        if shape.held
        else Suggested("keep", "no known name and no value")
        for i, shape in enumerate(shapes)
    ]
