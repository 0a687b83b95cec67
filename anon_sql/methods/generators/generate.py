"""Generate synthetic records of sensitive values, none of which equals a real row."""

from collections.abc import Callable, Mapping

import numpy as np

from anon_sql.core.interrupt import check
from anon_sql.core.progress import Progress
from anon_sql.errors import AnonError
from anon_sql.methods.generators.attributes import Generator, Positions, RealRows
from anon_sql.methods.generators.bootstrap import Bootstrap
from anon_sql.methods.generators.ctgan import Ctgan

GENERATORS: Mapping[str, Callable[[str, RealRows, int, int], Generator]] = {
    "ctgan": Ctgan,
    "bootstrap": Bootstrap,
}
_DRAWS = 50  # for a value, before it is given up
_LEAST = 500  # records a draw, since few may be new


def generate(
    function: str, kind: str, real: RealRows, wanted: Mapping[int, int], seed: int, epochs: int
) -> Positions:
    """Return as many records of each sensitive value (by its code) as wanted, int32[sum, d].

    They are in the order of ``wanted``; a record holds by column the position of the real row whose
    value it takes. kind: one of ``GENERATORS``; epochs: duration of the training. Raises AnonError
    where the generator is not installed, on Ctrl-C, and where too few records differ from real
    rows.
    """
    maker = GENERATORS[kind](function, real, seed, epochs)
    found: list[Positions] = []
    with Progress(function, sum(wanted.values())) as progress:
        progress.note = "drawing records"
        for value, count in wanted.items():
            left = count
            for at in range(_DRAWS):
                if left == 0:
                    break
                check(function)
                records = maker.draw(value, max(2 * left, _LEAST), at)
                records = records[real.new(records)][:left]
                found.append(records)
                left -= len(records)
                progress.advance(len(records))
            if left:
                raise AnonError(
                    function,
                    f"{count:,} synthetic records of a value must differ from every real row",
                    f"{count - left:,} that do",
                    maker.hint,
                )
    none = np.zeros((0, len(real.columns)), dtype=np.int32)
    return np.concatenate([none, *found])
