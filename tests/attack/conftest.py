"""A hand-worked release with overlapping labels, NULLs, a suppressed row and one left out.

======  ====  ====  =======  =====  ========  ======
person  age   city  illness  stage  label of  label
                                    age       of city
======  ====  ====  =======  =====  ========  ======
1       20    a     flu      1      [20, 25]  {a, b}
2       25    b     flu      2      [20, 25]  {a, b}
3       30    a     gout     3      [22, 30]  a
4       22    a     gout     3      [22, 30]  a
5       NULL  b     flu      1      NULL      b
6       60    c     NULL     2      *         *
7       40    c     ulcer    1      left out
======  ====  ====  =======  =====  ========  ======

Shown rows that can be a person's: 1 has classes 1 and the suppressed row, 4 has classes 1 and 2
and that row; 6 and 7 have that row alone. The row left out can be anybody's.
"""

import pytest

from tests.inserting import insert
from tests.privacy.conftest import shape, wards

__all__ = ["shape", "wards"]
ROWS = [
    (20, "a", "flu", 1, "[20, 25]", "{a, b}"),
    (25, "b", "flu", 2, "[20, 25]", "{a, b}"),
    (30, "a", "gout", 3, "[22, 30]", "a"),
    (22, "a", "gout", 3, "[22, 30]", "a"),
    (None, "b", "flu", 1, None, "b"),
    (60, "c", None, 2, "*", "*"),
    (40, "c", "ulcer", 1, None, None),
]


@pytest.fixture
def clinic(con):
    con.execute("CREATE TABLE raw (age INTEGER, city VARCHAR, illness VARCHAR, stage INTEGER)")
    con.execute("CREATE TABLE label (STAGE INTEGER, city VARCHAR, Age VARCHAR, illness VARCHAR)")
    insert(con, "raw", [row[:4] for row in ROWS])
    shown = [(stage, place, years, ill) for _, _, ill, stage, years, place in ROWS if place]
    insert(con, "label", shown)
    con.execute(
        """
        CREATE TABLE typed AS SELECT * REPLACE (
            CASE WHEN city <> '*' THEN anon_values(city) END AS city,
            CASE
                WHEN age IS NULL THEN {'min': NULL, 'max': NULL}
                WHEN age <> '*' THEN {'min': anon_min(age)::INTEGER, 'max': anon_max(age)::INTEGER}
            END AS age)
        FROM label
        """
    )
    return con


@pytest.fixture
def attacked(con):
    """Asks an attack of tables called raw and, as named, of its release."""

    def ask(name, released="label", quasi=("age", "city"), raw="raw", **more):
        given = "".join(f", {key} := {value}" for key, value in more.items())
        found = con.execute(f"FROM {name}('{raw}', '{released}', quasi := {list(quasi)}{given})")
        names = [column for column, *_ in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    return ask
