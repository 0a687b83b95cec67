"""Compute what each row costs its class: the decrease of |E| * NCP(E) by the row's leaving."""

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.cluster.class_state import class_state, fill, ncp_with
from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss.ncp import LossModel


@kernel
def leaving(s, costs):
    """Write the decrease of |E| * NCP(E) by the leaving of each row into costs, float64[m]."""
    for row in range(s.home.size):
        at = s.home[row]
        rest = (s.size[at] - 1) * ncp_with(s, at, row, -1)
        costs[row] = s.size[at] * s.ncp[at] - rest


def row_costs(
    points: npt.NDArray[np.float64], model: LossModel, classes: npt.NDArray[np.int32]
) -> npt.NDArray[np.float64]:
    """Return what each row of float64[m, d] costs its class, float64[m], its own loss included.

    classes: int32[m], from 0 without gaps.
    """
    state = class_state(points, model, classes, int(np.bincount(classes).max()))
    fill(state)
    costs = np.empty(len(classes))
    leaving(state, costs)
    return costs
