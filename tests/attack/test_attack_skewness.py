"""attack_skewness: by hand, at the threshold, and what it refuses."""

import pytest

from tests.sentence import fails


def exposed(attacked, shape, quasi, **more):
    found = attacked("attack_skewness", shape, quasi, **more)
    return [(one["attribute"], one["exposed_classes"], one["exposed_rows"]) for one in found]


@pytest.mark.parametrize(
    ("threshold", "s", "n"),
    [
        *((0, (2, 7), (2, 7)), (0.49, (2, 7), (2, 7)), (0.5, (1, 4), (1, 3))),
        *((0.7, (1, 4), (0, 0)), (0.75, (0, 0), (0, 0))),
    ],
)
def test_by_hand(wards, shape, attacked, threshold, s, n):
    """Shares of the most frequent value: s 3/4, 1/2 (NULL is none), one value; n 2/4, 2/3, one."""
    found = exposed(attacked, shape, ["a"], sensitive="['n', 's']", threshold=threshold)
    assert found == [("s", *s), ("n", *n)]  # in the order of the table


def test_all_that_is_said(wards, shape, attacked):
    assert attacked("attack_skewness", shape, ["a"], sensitive="'s'") == [
        {
            "attribute": "s",
            "classes": 3,
            "exposed_classes": 1,
            "class_share": 1 / 3,
            "rows": 10,
            "exposed_rows": 4,
            "row_share": 0.4,
        }
    ]


def test_a_class_of_one_value_is_not_skewed(clinic, shape, attacked):
    assert exposed(attacked, shape, ["age", "city"], sensitive="'illness'") == [("illness", 0, 0)]


@pytest.mark.parametrize(
    ("threshold", "got"), [("1.5", "1.5"), ("-1", "-1"), ("NULL", "NULL"), ("'x'", "a VARCHAR")]
)
def test_a_threshold_that_is_none(wards, threshold, got):
    said = fails(wards, f"FROM attack_skewness('raw', 'label', 's', {threshold}, quasi := ['a'])")
    rule = "threshold must be a number of at least 0 and at most 1"
    assert said.startswith(f"attack_skewness: {rule}, got {got}")
