"""Classes whose sensitive values give something away, for the attacks that need no person."""

from collections.abc import Mapping

import pyarrow as pa

from anon_sql.measures.dominance import dominance
from anon_sql.measures.spread import Spread

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


def exposure(spreads: Mapping[str, Spread], threshold: float | None) -> pa.Table:
    """Return a row of ``EXPOSURE`` for each sensitive column; NULL is no value.

    threshold: a class is exposed if it has two values or more, one of them with a larger share; of
    None, if it has no two values (Machanavajjhala et al. 2006; Li et al. 2007).
    """
    found = []
    for name, spread in spreads.items():
        sizes, many = spread.sizes, len(spread.starts)
        values, share = dominance(spread)
        exposed = values < 2
        if threshold is not None:
            exposed = ~exposed & (share > threshold)
        rows, shown = int(sizes.sum()), int(sizes[exposed].sum())
        found.append(
            {
                "attribute": name,
                "classes": many,
                "exposed_classes": int(exposed.sum()),
                "class_share": exposed.sum() / many if many else None,
                "rows": rows,
                "exposed_rows": shown,
                "row_share": shown / rows if rows else None,
            }
        )
    return pa.Table.from_pylist(found, pa.schema(list(EXPOSURE)))
