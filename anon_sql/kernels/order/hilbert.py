"""Compute Hilbert keys: rows that are near in the order are near in every column.

Source: J. Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707 (2004). BLOCK
rows are computed at a time, each step a loop over adjacent rows.
"""

import numpy as np

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.order.grid import cell

BLOCK = 256  # rows that stay in the L1 cache


@kernel
def hilbert_key(points, first, end, grid, bits):
    """Return the place of rows first … end - 1 on the Hilbert curve, uint64[end - first].

    points: float64[n, d]. grid: g columns of at most 2 ** bits cells; bits at most 31, g * bits at
    most 63.
    """
    columns = grid.column.size
    keys = np.zeros(end - first, np.uint64)
    x = np.zeros((columns, BLOCK), np.uint32)
    for a in range(0, end - first, BLOCK):
        count = min(BLOCK, end - first - a)
        for i in range(count):
            for c in range(columns):
                x[c, i] = cell(points, first + a + i, grid, c)
        transpose(x, bits)
        key = np.zeros(BLOCK, np.uint64)
        for bit in range(bits - 1, -1, -1):
            shift = np.uint32(bit)
            for c in range(columns):
                line = x[c]
                for i in range(BLOCK):
                    key[i] = (key[i] << np.uint64(1)) | np.uint64((line[i] >> shift) & np.uint32(1))
        for i in range(count):
            keys[a + i] = key[i]
    return keys


@kernel
def transpose(x, bits):
    """Turn cells, uint32[columns, BLOCK], into the transposed Hilbert index, in place."""
    columns, zero, one = x.shape[0], np.uint32(0), np.uint32(1)
    first = x[0]
    for bit in range(bits - 1, 0, -1):
        turn, low = np.uint32(1 << bit), np.uint32((1 << bit) - 1)
        for c in range(columns):
            line = x[c]
            if c == 0:
                for i in range(BLOCK):
                    first[i] ^= low if first[i] & turn else zero
                continue
            for i in range(BLOCK):
                swap = (first[i] ^ line[i]) & low
                above = (line[i] & turn) != zero
                first[i] ^= low if above else swap
                line[i] ^= zero if above else swap
    for c in range(1, columns):
        line, before = x[c], x[c - 1]
        for i in range(BLOCK):
            line[i] ^= before[i]
    flips, last = np.zeros(BLOCK, np.uint32), x[columns - 1]
    for bit in range(bits - 1, 0, -1):
        turn = np.uint32(1 << bit)
        for i in range(BLOCK):
            flips[i] ^= turn - one if last[i] & turn else zero
    for c in range(columns):
        line = x[c]
        for i in range(BLOCK):
            line[i] ^= flips[i]
