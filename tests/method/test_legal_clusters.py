"""Illegal clusters and noise are joined to clusters."""

import numpy as np
import pytest

from anon_sql.methods.clusters import Density, legal_clusters
from anon_sql.privacy.constraint import Constraint, Sensitive, constraint
from anon_sql.privacy.l_diversity import LDiversity

pytestmark = pytest.mark.quick


def dense(places, clusters):
    """Rows on a line, each at a place of its own."""
    points = np.array(places, dtype=np.float64)[:, None]
    return Density(points, np.arange(len(points)), np.array(clusters, np.int32), 1.0)


def settled(places, clusters, rule, noise="class"):
    return legal_clusters("dop", dense(places, clusters), rule, noise)


def groups(ids):
    return sorted(np.flatnonzero(ids == own).tolist() for own in set(ids.tolist()))


def test_legal_clusters_stay():
    found = settled([0, 1, 5, 6], [0, 0, 1, 1], Constraint(2))
    assert groups(found.ids) == [[0, 1], [2, 3]]
    assert (found.joined, found.uncut.any()) == (0, False)


def test_a_small_cluster_joins_the_one_whose_row_is_nearest():
    found = settled([0, 1, 2, 5, 8, 9, 30], [0, 0, 0, 1, 2, 2, 2], Constraint(2))
    assert groups(found.ids) == [[0, 1, 2, 3], [4, 5, 6]]  # a tie: the lower one
    found = settled([0, 1, 2, 6, 8, 9, 30], [0, 0, 0, 1, 2, 2, 2], Constraint(2))
    assert groups(found.ids) == [[0, 1, 2], [3, 4, 5, 6]]
    assert found.joined == 1


def test_the_nearest_that_is_not_legal_with_it_is_passed_over():
    found = settled([0, 1, 2, 9, 10, 11, 12], [0, 0, 1, 2, 2, 2, 2], Constraint(4))
    assert groups(found.ids) == [[0, 1, 2, 3, 4, 5, 6]]
    assert found.joined == 2
    words = Sensitive("w", np.array([0, 0, 0, 0, 0, 0, 1, 1], np.int32), 2, False)
    found = settled(
        [0, 1, 4, 5, 10, 11, 12, 13],
        [0, 0, 1, 1, 2, 2, 2, 2],
        constraint(2, [words], None, [LDiversity(l=2)]),
    )
    assert groups(found.ids) == [list(range(8))]
    assert found.joined == 2


def test_without_a_partner_all_are_one():
    found = settled([0, 1, 2, 3], [0, 1, 2, 3], Constraint(3))
    assert groups(found.ids) == [[0, 1, 2, 3]]
    assert found.joined == 3


@pytest.mark.parametrize(("noise", "whole"), [("class", 2), ("suppress", 2), ("split", 0)])
def test_noise_that_is_legal_is_a_class(noise, whole):
    found = settled([0, 1, 20, 40], [0, 0, -1, -1], Constraint(2), noise)
    assert groups(found.ids) == [[0, 1], [2, 3]]
    assert found.uncut.sum() == whole


def test_noise_that_is_not_joins_its_nearest_cluster_or_is_suppressed():
    places, clusters = [0, 1, 2, 20, 21, 22, 13], [0, 0, 0, 1, 1, 1, -1]
    for noise in ("class", "split"):
        found = settled(places, clusters, Constraint(3), noise)
        assert groups(found.ids) == [[0, 1, 2], [3, 4, 5, 6]]
    assert settled(places, clusters, Constraint(3), "suppress").ids[6] == -1


def test_noise_is_not_suppressed_where_the_rest_is_no_class():
    found = settled([0, 1, 9, 13], [0, 0, -1, -1], Constraint(3), "suppress")
    assert groups(found.ids) == [[0, 1, 2, 3]]


def test_all_noise_is_one_cluster():
    found = settled([0, 4, 8], [-1, -1, -1], Constraint(2))
    assert groups(found.ids) == [[0, 1, 2]]
    assert not found.uncut.any()
