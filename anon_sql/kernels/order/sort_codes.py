"""Sort whole numbers within a kernel: numba compiles this much faster than numpy's sort."""

import numpy as np

from anon_sql.kernels.kernel import kernel

RUN = 16  # numbers that an insertion sort puts in order


@kernel
def sort_codes(codes):
    """Sort codes, int32[m], ascending, in place."""
    m, width = codes.size, RUN
    for low in range(0, m, RUN):
        for at in range(low + 1, min(low + RUN, m)):
            code, to = codes[at], at
            while to > low and codes[to - 1] > code:
                codes[to] = codes[to - 1]
                to -= 1
            codes[to] = code
    spare = np.empty(m if m > RUN else 0, np.int32)
    while width < m:
        for low in range(0, m, 2 * width):
            left, middle = low, min(low + width, m)
            right, high = middle, min(low + 2 * width, m)
            for at in range(low, high):
                if right == high or (left < middle and codes[left] <= codes[right]):
                    spare[at] = codes[left]
                    left += 1
                else:
                    spare[at] = codes[right]
                    right += 1
        for at in range(m):
            codes[at] = spare[at]
        width *= 2
