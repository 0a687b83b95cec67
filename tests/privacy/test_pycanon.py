"""What pyCANON 1.3.6 says of a release, and how it comes to that: four classes, four illnesses."""

import pytest

from tests.inserting import insert

ILL = ("flu", "gout", "ulcer", "none")
# class: rows with flu (1 day), gout (2), ulcer (3) and none (4); altogether 12, 7, 8 and 13 of 40
CLASSES = {
    ("[20, 39]", "f"): (4, 2, 1, 3),
    ("[20, 39]", "m"): (1, 0, 2, 5),
    ("[40, 59]", "f"): (2, 4, 3, 3),
    ("[40, 59]", "m"): (5, 1, 2, 2),
}
FIGURES = {  # in fortieths the men below 40 have 5, 0, 10 and 25, the farthest from 12, 7, 8, 13
    "k_anonymity('raw', 'label', quasi := {quasi})": 8,
    "l_diversity('raw', 'label', ['ill'], quasi := {quasi})": 3,
    "l_diversity('raw', 'label', ['ill', 'ward'], quasi := {quasi})": 2,
    "t_closeness('raw', 'label', ['ill'], quasi := {quasi})": (7 + 7 + 2 + 12) / 2 / 40,
    "t_closeness('raw', 'label', ['days'], quasi := {quasi})": (7 + 14 + 12 + 0) / 3 / 40,
    "beta_likeness('raw', 'label', ['ill'], quasi := {quasi})": (25 - 13) / 13,
}


@pytest.mark.parametrize("call", FIGURES)
def test_its_figures(con, call):
    rows = [
        (age, sex, ill, days)
        for (age, sex), counts in CLASSES.items()
        for days, (ill, count) in enumerate(zip(ILL, counts, strict=True), 1)
        for _ in range(count)
    ]
    con.execute("CREATE TABLE label (age VARCHAR, sex VARCHAR, ill VARCHAR, days INTEGER)")
    insert(con, "label", rows)
    con.execute("ALTER TABLE label ADD ward INTEGER; UPDATE label SET ward = days % 2")
    con.execute("CREATE TABLE raw AS SELECT * REPLACE (age[2:3]::INTEGER AS age) FROM label")
    con.execute("UPDATE raw SET age = age + 19 WHERE rowid % 2 = 1")  # both ends of each range
    found = con.execute(f"SELECT {call.format(quasi=['age', 'sex'])}").fetchall()
    assert found == [(pytest.approx(FIGURES[call]),)]
