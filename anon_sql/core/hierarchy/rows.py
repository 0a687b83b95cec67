"""Select the rows of a hierarchy for each column and cast its values to the column's type."""

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.printing import cast, printed
from anon_sql.core.roles import fold

_TEXT = ("VARCHAR", "ENUM")


def rows_of(
    paths: pa.StructArray | None, types: Mapping[str, str], time_zone: str
) -> dict[str, pa.StructArray]:
    """Return the hierarchy rows of each column, by the name of the column.

    Columns that the hierarchy does not name are missing from the result. paths: structs of
    attribute, value and label (string) and level (int32), without NULL in value and label; None if
    there is no hierarchy. types: SQL type of each column, by name. time_zone: time zone of
    timestamps that the hierarchy writes without one.

    Each result has the fields value, level and label as given; ``leaf``, the value cast to the
    column's type (NULL if the cast fails); ``shown``, the leaf as DuckDB prints it; and
    ``castable``, whether the label can be cast to the column's type.
    """
    if paths is None or len(paths) == 0:
        return {}
    coded = paths.field("attribute").dictionary_encode()
    folded = pa.array([fold(name) for name in coded.dictionary.to_pylist()]).take(coded.indices)
    own = {name: paths.filter(pc.equal(folded, fold(name))) for name in types}
    named = {name: rows for name, rows in own.items() if len(rows)}
    kinds = [types[name] for name in named]
    leaves = cast([rows.field("value") for rows in named.values()], kinds, time_zone)
    shown = printed(leaves, ["VARCHAR" if k.startswith(_TEXT) else k for k in kinds])
    labels = cast([rows.field("label") for rows in named.values()], kinds, time_zone)
    return {
        name: pa.StructArray.from_arrays(
            [
                *(rows.field(field) for field in ("value", "level", "label")),
                leaf,
                text,
                label.is_valid(),
            ],
            names=["value", "level", "label", "leaf", "shown", "castable"],
        )
        for (name, rows), leaf, text, label in zip(
            named.items(), leaves, shown, labels, strict=True
        )
    }
