"""join_clusters leaves legal clusters, the same as a plain implementation."""

import numpy as np
import pytest

from anon_sql.methods.clusters import join_clusters
from anon_sql.privacy.constraint import Constraint, Sensitive, constraint
from anon_sql.privacy.l_diversity import LDiversity

pytestmark = pytest.mark.quick


def twin(features, clusters, real, k, values):
    """Lists of rows; the shortest, lowest cluster joins the one whose centre is nearest."""
    members = {c: np.flatnonzero(clusters == c) for c in range(int(clusters.max()) + 1)}

    def short(rows):
        own = rows[real[rows]]
        return len(own) < k or (values is not None and len(set(values[own])) < 2)

    while len(members) > 1:
        wanting = [(real[rows].sum(), c) for c, rows in members.items() if short(rows)]
        if not wanting:
            break
        _, one = min(wanting)
        centre = {c: features[rows].mean(axis=0) for c, rows in members.items()}
        other = min(
            (c for c in members if c != one),
            key=lambda c, own=centre[one], all_=centre: (((all_[c] - own) ** 2).sum(), c),
        )
        members[other] = np.concatenate([members[other], members.pop(one)])
    return {frozenset(rows.tolist()) for rows in members.values()}


@pytest.mark.parametrize("diverse", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_a_plain_twin(seed, diverse):
    draw = np.random.default_rng(seed)
    features = draw.normal(size=(120, 3)).astype(np.float32)
    clusters = np.unique(draw.integers(0, 40, 120), return_inverse=True)[1].astype(np.int32)
    real = draw.random(120) < 0.7
    values = (draw.random(120) < 0.15).astype(np.int32)
    asked = Constraint(4)
    if diverse:
        asked = constraint(4, [Sensitive("s", values[real], 2, False)], None, [LDiversity(l=2)])
    found, joined = join_clusters("sdka", features, clusters, real, asked)
    expected = twin(features.astype(np.float64), clusters, real, 4, values if diverse else None)
    assert {frozenset(np.flatnonzero(found == c).tolist()) for c in set(found)} == expected
    assert joined == clusters.max() + 1 - len(expected)


def test_where_nothing_is_legal_one_is_left():
    clusters = np.arange(6, dtype=np.int32)
    found, joined = join_clusters(
        "sdka", np.eye(6, dtype=np.float32), clusters, np.ones(6, bool), Constraint(9)
    )
    assert found.tolist() == [0] * 6
    assert joined == 5
