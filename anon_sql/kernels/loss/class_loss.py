"""Compute the information loss of classes: the sum of |E| * NCP(E)."""

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss.nearness import loss, profiles


@kernel
def class_loss(points, model, order, starts):
    """Return the sum of |E| * NCP(E) of the classes of order int32[…], starts int64[m + 1]."""
    low, high, nulls, first, end, flat = profiles(points, model, order, starts)
    total = 0.0
    for at in range(len(starts) - 1):
        own = loss(at, at, model, low, high, nulls, first, end, flat)
        total += (starts[at + 1] - starts[at]) * own
    return total
