"""Generate records by CTGAN (Xu et al. 2019), the package of its authors, trained on the CPU.

An optional extra: the package is under the Business Source License, which is not open source.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql.core.running import Progress
from anon_sql.core.stopping import check
from anon_sql.errors import Argument, Parameter, not_installed
from anon_sql.methods.generators.bootstrap import Attribute, Positions, RealRows


class Ctgan:
    """Generator trained once, on all columns of all rows, and sampled given a sensitive value.

    The network yields other sensitive values too, whatever the condition; those records are left
    out. A number becomes the nearest that a row has; a record's number is never NULL.
    """

    hint = "raise " + Parameter("epochs") + ", or use " + Argument("generator", "bootstrap")

    def __init__(self, function: str, real: RealRows, seed: int, epochs: int):
        self.real = real
        import pandas as pd

        with Progress(function, epochs) as progress:
            progress.note = "training"
            self.model = _model(function, epochs, progress)
            self.model.set_random_state(seed % 2**32)
            learned = {str(i): _learned(column) for i, column in enumerate(real.columns)}
            words = [str(i) for i, column in enumerate(real.columns) if not _are_counts(column)]
            with _one_thread():
                self.model.fit(pd.DataFrame(learned), words)

    def draw(self, value: int, count: int, draw_number: int) -> Positions:
        condition = str(self.real.sensitive), str(value)
        with _one_thread():
            sampled = self.model.sample(count, *condition)
        sampled = sampled[sampled[condition[0]] == condition[1]]
        columns = [_row_of(column, sampled[str(i)]) for i, column in enumerate(self.real.columns)]
        return np.stack(columns, axis=1)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Run torch on one thread: the same sums on every machine; more gain little here."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _model(function: str, epochs: int, progress: Progress) -> Any:
    """Return an untrained CTGAN that counts its epochs and tests for Ctrl-C after each."""
    try:
        from ctgan import CTGAN
    except ImportError:
        rule = Argument("generator", "ctgan") + " needs the extra ctgan"
        instead = ", or use " + Argument("generator", "bootstrap")
        raise not_installed(function, rule, "no package ctgan", "ctgan", instead) from None

    class Counted(CTGAN):  # type: ignore[misc]
        """The package keeps its losses in ``loss_values``, assigned after every epoch."""

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


def _are_counts(column: Attribute) -> bool:
    return column.numbers is not None and bool(np.isfinite(column.numbers).any())


def _learned(column: Attribute) -> npt.NDArray[Any]:
    """Return what the network learns: numbers, their mean for NULL, or codes as text."""
    if column.numbers is None or not _are_counts(column):
        return column.codes.astype(str).astype(object)
    numbers = column.numbers
    return np.where(np.isnan(numbers), np.nanmean(numbers), numbers)


def _row_of(column: Attribute, generated: Any) -> Positions:
    """Return the first row that has each generated value, or of numbers the nearest; int32[m]."""
    if column.numbers is None or not _are_counts(column):
        values, rows = np.unique(column.codes, return_index=True)
        nearest = np.searchsorted(values, generated.to_numpy().astype(np.int64))
    else:
        values, rows = np.unique(column.numbers, return_index=True)  # NaN comes last, once
        values = values[~np.isnan(values)]
        targets = generated.to_numpy().astype(np.float64)
        above = np.searchsorted(values, targets).clip(0, len(values) - 1)
        below = (above - 1).clip(0)
        nearest = np.where(values[above] - targets < targets - values[below], above, below)
    nearest_rows: Positions = rows[nearest].astype(np.int32)
    return nearest_rows
