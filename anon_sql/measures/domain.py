"""What the raw table holds in one quasi-identifier."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from anon_sql.core.columns import infinite
from anon_sql.core.hierarchy.tree import Tree
from anon_sql.errors import AnonError
from anon_sql.measures.points import points


@dataclass(frozen=True)
class Domain:
    """The domain of a column, from which the loss of its labels is taken.

    number: its labels are ranges, not sets. least, most: half of its outermost values, see
    ``points``; NaN where it holds none. words: its distinct texts, none for numbers. nulls: whether
    it holds NULL. tree: its hierarchy, by which labels are read where there is one.
    """

    name: str
    sql_type: str
    number: bool
    least: float
    most: float
    words: tuple[str, ...]
    nulls: bool
    tree: Tree | None = None

    @property
    def values(self) -> int:
        """How many distinct texts it holds, NULL among them."""
        return len(self.words) + self.nulls

    @property
    def label_like(self) -> bool:
        """Whether some text is what a label shows only in quotes."""
        return any(word == "*" or word[:1] in ("{", "'") for word in self.words if word)


def domain(
    function: str,
    name: str,
    sql_type: str,
    number: bool,
    ends: pa.Array,
    words: pa.Array | None,
    nulls: int,
    tree: Tree | None,
) -> Domain:
    """Return the domain of a column.

    ends: the smallest and the largest value of a number, date or time, in its own type. words: the
    distinct values of a text, perhaps NULL. Raises AnonError for a column with NaN or infinity.
    """
    if not number:
        known = [] if words is None else words.drop_null().to_pylist()
        return Domain(name, sql_type, number, np.nan, np.nan, tuple(known), nulls > 0, tree)
    if ends.null_count:
        return Domain(name, sql_type, number, np.nan, np.nan, (), nulls > 0, tree)
    if infinite(ends).any():
        raise AnonError(
            function,
            f"{name} must hold finite values",
            "some that are NaN or infinite",
            "make them NULL or leave the rows out",
        )
    least, most = points(sql_type, ends).tolist()
    return Domain(name, sql_type, number, least, most, (), nulls > 0, tree)
