"""Number the pairs of a kept value and a class, as released rows come class by class."""

import numpy as np

from anon_sql.kernels.kernel import kernel


@kernel
def number_slots(numbers, classes, latest, values, owners, sizes, count):
    """Return the slot of each row, int32[m], new ones numbered from ``count``, and the new count.

    numbers: int32[m], below v, of kept values; classes: int32[m], ascending over all calls. latest:
    int32[v], the last slot of each number, -1 where it has none. values, owners: int32[count + m or
    more], number and class of each slot; sizes: int64[…], its rows. All four are changed in place.
    """
    slot_of = np.empty(len(numbers), dtype=np.int32)
    for row in range(len(numbers)):
        slot = latest[numbers[row]]
        if slot < 0 or owners[slot] != classes[row]:
            slot = count
            latest[numbers[row]] = slot
            values[slot], owners[slot], sizes[slot] = numbers[row], classes[row], 0
            count += 1
        sizes[slot] += 1
        slot_of[row] = slot
    return slot_of, count
