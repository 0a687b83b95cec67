"""The parameters of a release of linked tables, declared once for every host."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pyarrow as pa

from anon_sql.core.labels.types import FORMATS
from anon_sql.core.parameters import Choice, Secret, Whole, param


@dataclass(frozen=True)
class Linking:
    """How linked tables are released, beside k."""

    l: int = param(  # noqa: E741 - the parameter of l-diversity
        1,
        Whole(1),
        "at least l - 1 people of a class lack each sensitive value of a slot, and of all slots of "
        "a table together; the class has at least l values there",
    )
    surplus: str = param(
        "drop",
        Choice(("drop", "unlink")),
        "rows above the smallest count of their class: 'drop' leaves them out; 'unlink' releases "
        "them with labels alone, without link and values",
    )
    orphans: str = param(
        "error",
        Choice(("error", "drop")),
        "'error', or 'drop' to leave out rows whose link is NULL or names no row",
    )
    format: str = param(
        "label",
        Choice(FORMATS),
        "as in every release",
    )
    effort: str = param("good", Choice(("good", "fast", "best")), "search effort")
    seed: int = param(42, Whole(0), "seed for random choices; new keys never come from it")
    key: Any = param(
        None,
        Secret(),
        "secret key, as in every release: random choices depend on it and on the seed",
        null="none",
    )


@dataclass(frozen=True)
class LinkedCall:
    """A checked call.

    weights: of quasi-identifiers by table and column; bin_width: likewise, of those whose values
    are cut. paths: rows of the hierarchy, None for none. secret: what random choices depend on
    besides the seed, None for none.
    """

    function: str
    k: int
    options: Linking
    weights: Mapping[tuple[str, str], float] = field(default_factory=dict)
    paths: pa.StructArray | None = None
    threads: int = 1
    time_zone: str = "UTC"
    bin_width: Mapping[tuple[str, str], Decimal] = field(default_factory=dict)
    secret: bytes | None = field(default=None, repr=False)

    def bin_widths_of(self, table: str) -> dict[str, Decimal]:
        """Return the widths of bins of a table, by name."""
        return {
            column: step
            for (table_of_column, column), step in self.bin_width.items()
            if table_of_column == table
        }

    def arguments(self, **others: Any) -> dict[str, Any]:
        """Return arguments for a request of the pipeline."""
        options = self.options
        return {
            "k": self.k,
            "effort": options.effort,
            "seed": options.seed,
            "key": self.secret,
            **others,
        }
