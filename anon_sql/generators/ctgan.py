"""CTGAN (Xu et al. 2019) by the package of its authors: an extra, trained on the CPU.

That package is under the Business Source License, which is no open-source license.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql.errors import not_installed
from anon_sql.generators.attributes import Attribute, Positions, RealRows
from anon_sql.interrupt import check
from anon_sql.progress import Progress


class Ctgan:
    """Trained once, on all columns of all rows; drawn from on the condition of a sensitive value.

    The network makes other values too, whatever the condition, so those records are left out. A
    number becomes the nearest that a row has; a record's number is never NULL.
    """

    hint = "raise epochs, or use generator := 'bootstrap'"

    def __init__(self, function: str, real: RealRows, seed: int, epochs: int):
        self.real = real
        import pandas as pd

        with Progress(function, epochs) as progress:
            progress.note = "training"
            self.model = _model(function, epochs, progress)
            self.model.set_random_state(seed % 2**32)
            learned = {str(at): _learned(column) for at, column in enumerate(real.columns)}
            words = [str(at) for at, column in enumerate(real.columns) if not _counts(column)]
            with _one_thread():
                self.model.fit(pd.DataFrame(learned), words)

    def draw(self, value: int, count: int, at: int) -> Positions:
        condition = str(self.real.sensitive), str(value)
        with _one_thread():
            made = self.model.sample(count, *condition)
        made = made[made[condition[0]] == condition[1]]
        columns = [_row_of(column, made[str(q)]) for q, column in enumerate(self.real.columns)]
        return np.stack(columns, axis=1)


@contextmanager
def _one_thread() -> Iterator[None]:
    """The same sums on every machine; more threads gain little on networks of this size."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _model(function: str, epochs: int, progress: Progress) -> Any:
    """An untrained CTGAN that counts its epochs and looks at Ctrl-C after each."""
    try:
        from ctgan import CTGAN
    except ImportError:
        rule = "generator := 'ctgan' needs the extra ctgan"
        instead = ", or use generator := 'bootstrap'"
        raise not_installed(function, rule, "no package ctgan", "ctgan", instead) from None

    class Counted(CTGAN):  # type: ignore[misc]
        """The package keeps its losses in ``loss_values``, set anew after every epoch."""

        @property
        def loss_values(self) -> Any:
            return self._losses

        @loss_values.setter
        def loss_values(self, losses: Any) -> None:
            self._losses = losses
            if losses is not None and len(losses):
                check(function)
                progress.advance(1)

    return Counted(epochs=epochs, enable_gpu=False)


def _counts(column: Attribute) -> bool:
    return column.numbers is not None and bool(np.isfinite(column.numbers).any())


def _learned(column: Attribute) -> npt.NDArray[Any]:
    """What the network sees: numbers, their mean for NULL, and codes as text."""
    if column.numbers is None or not _counts(column):
        return column.codes.astype(str).astype(object)
    numbers = column.numbers
    return np.where(np.isnan(numbers), np.nanmean(numbers), numbers)


def _row_of(column: Attribute, made: Any) -> Positions:
    """The first row that has each value made, or of numbers the nearest."""
    if column.numbers is None or not _counts(column):
        known, rows = np.unique(column.codes, return_index=True)
        near = np.searchsorted(known, made.to_numpy().astype(np.int64))
    else:
        known, rows = np.unique(column.numbers, return_index=True)  # NaN comes last, once
        known = known[~np.isnan(known)]
        wanted = made.to_numpy().astype(np.float64)
        above = np.searchsorted(known, wanted).clip(0, len(known) - 1)
        below = (above - 1).clip(0)
        near = np.where(known[above] - wanted < wanted - known[below], above, below)
    found: Positions = rows[near].astype(np.int32)
    return found
