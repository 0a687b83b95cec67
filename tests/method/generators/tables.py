"""A table of real rows that generators learn from, made by the tests."""

import numpy as np

from anon_sql.methods.generators.bootstrap import Attribute, RealRows

RARE = 1


def made(rows=400, seed=5):
    """Columns: a number with NULLs, one without, a word with NULLs (code 3), the sensitive one (a
    tenth has the value ``RARE``, and most of those the word 0)."""
    draw = np.random.default_rng(seed)
    own = (draw.random(rows) < 0.1).astype(np.int64)
    word = np.where((own == RARE) & (draw.random(rows) < 0.8), 0, draw.integers(0, 4, rows))
    age = np.where(draw.random(rows) < 0.1, np.nan, draw.integers(18, 60, rows) + 10 * own)
    pay = draw.integers(0, 1000, rows) / 4
    return RealRows(
        [
            Attribute("age", np.unique(age, return_inverse=True)[1].reshape(-1), age),
            Attribute("pay", np.unique(pay, return_inverse=True)[1].reshape(-1), pay),
            Attribute("word", word),
            Attribute("own", own),
        ],
        sensitive=3,
    )


def held(real, records):
    """The codes of records, int64[m, d]."""
    return np.stack([c.codes[records[:, q]] for q, c in enumerate(real.columns)], axis=1)
