"""What a run of classes loses: the sum of |E| * NCP(E), from scratch."""

from numba import njit

from anon_sql.kernels.nearness import loss, profiles


@njit(cache=True, nogil=True)
def class_loss(points, model, order, starts):
    """Sum of |E| * NCP(E) of the classes that order int32[…] and starts int64[m + 1] give."""
    low, high, nulls, first, end, flat = profiles(points, model, order, starts)
    total = 0.0
    for at in range(len(starts) - 1):
        own = loss(at, at, model, low, high, nulls, first, end, flat)
        total += (starts[at + 1] - starts[at]) * own
    return total
