"""A good release, and what is done to it to make it useless or disclosing, a cell of the table each.

The raw table has 1,000 rows: ``a`` and ``b`` in classes of 20, each value twice; ``s`` has four equally
frequent values in every class and ``n`` numbers that are spread over their range. Its release is made
here, in SQL.
"""

from dataclasses import dataclass, field
from typing import Any

RAW = """
CREATE OR REPLACE TABLE raw AS SELECT
    i AS id, (i // 20) * 20 + 2 * (i % 10) AS a, (i // 20 * 7) % 50 * 2 + i % 2 AS b,
    'v' || (i % 4) AS s, (i * 37) % 101 AS n
FROM range(1000) AS made(i)
"""
GROUP = "id // 20"
RELEASED = """
CREATE OR REPLACE TABLE whole AS SELECT *,
    '[' || min(a) OVER w || ', ' || max(a) OVER w || ']' AS label_a,
    '[' || min(b) OVER w || ', ' || max(b) OVER w || ']' AS label_b
FROM raw WINDOW w AS (PARTITION BY {group});
CREATE OR REPLACE TABLE released AS SELECT label_a AS a, label_b AS b, s, n FROM whole
"""
REQUEST: dict[str, Any] = {
    "quasi": ["a", "b"],
    "sensitive": ["s", "n"],
    "identifiers": ["id"],
    "keep": [],
    "hierarchy": None,
    "k": 5,
    "l": 2,
    "t": 0.5,
}

SETS = """
CREATE OR REPLACE TABLE released AS SELECT '{{' || array_to_string(list_sort(list_distinct(
    list({text}) OVER (PARTITION BY {group}))), ', ') || '}}' AS a, label_b AS b, s, n FROM whole;
ALTER TABLE raw ALTER a TYPE VARCHAR USING ({text})
"""


@dataclass(frozen=True)
class Plant:
    """What is done, by statements before and after the release, and to the request.

    rule, level: of the reason that follows. audited: whether an audit runs.
    """

    rule: str
    level: str
    raw: str = ""
    released: str = ""
    group: str = GROUP
    request: dict[str, Any] = field(default_factory=dict)
    audited: bool = True
    environment: str = "contract"
    confirmed: bool = True


def made(con, plant: Plant) -> dict[str, Any]:
    """Make both tables; return the request."""
    con.execute(RAW)
    if plant.raw:
        con.execute(plant.raw)
    con.execute(RELEASED.format(group=plant.group))
    if plant.released:
        con.execute(plant.released)
    return {**REQUEST, **plant.request}


def one_value(class_count: int, column: str = "s", value: str = "'v1'") -> str:
    """SQL that gives the first classes one value."""
    return f"UPDATE raw SET {column} = {value} WHERE id < {20 * class_count}"


RARE = "UPDATE raw SET s = 'common' WHERE id % 4 < 2; UPDATE raw SET s = 'rare' WHERE id % 20 < 17 AND id < {}"
LOOSE = {"l": None, "t": None}
MEANS = """
CREATE OR REPLACE TABLE released AS
SELECT avg(a) OVER w AS a, avg(b) OVER w AS b, s, n FROM raw WINDOW w AS (PARTITION BY {group})
"""
COARSER = """
CREATE OR REPLACE TABLE released AS
SELECT '[' || min(a) OVER w || ', ' || max(a) OVER w || ']' AS a,
    '[' || min(b) OVER v || ', ' || max(b) OVER v || ']' AS b, s, n
FROM raw WINDOW w AS (PARTITION BY id // {a}), v AS (PARTITION BY b // {b})
"""
PATIENTS = "CREATE OR REPLACE TABLE raw AS SELECT *, 1000 + id // 10 AS patient_id FROM raw"
WIDE = "UPDATE released SET {column} = '[' || (SELECT min({column}) FROM raw) || ', ' || (SELECT max({column}) FROM raw) || ']'"
STARS = "UPDATE released SET a = '*', b = '*' WHERE n IN (SELECT n FROM released GROUP BY n ORDER BY n LIMIT {})"
PAIR = "CREATE OR REPLACE TABLE raw AS SELECT *, {} AS pair FROM raw"
WITH_PAIR = (
    "CREATE OR REPLACE TABLE released AS SELECT label_a AS a, label_b AS b, s, n, pair FROM whole"
)
PLANTS = {
    "a check is false": Plant("audit", "red", released="DELETE FROM released WHERE n = 50"),
    "a column without a role": Plant(
        "audit", "red", released="ALTER TABLE released ADD COLUMN note VARCHAR"
    ),
    "k is 1": Plant("audit", "red", request={"k": 1}),
    "no quasi-identifier": Plant(
        "audit", "red", request={"quasi": [], "keep": ["a", "b"]}, audited=False
    ),
    "not audited": Plant("audit", "amber", audited=False),
    "no k": Plant("audit", "amber", request={"k": None}),
    "a level that cannot be decided": Plant(
        "audit", "amber", request={"synthetic": 20, **LOOSE},
        released="INSERT INTO released FROM released LIMIT 20",
    ),
    "unique rows allowed": Plant(
        "audit", "amber", request={"keep": ["id"], "identifiers": [], "unique_share": 1.0},
        released="CREATE OR REPLACE TABLE released AS SELECT id, label_a AS a, label_b AS b, s, n FROM whole",
    ),
    "more columns kept than generalized": Plant(
        "audit", "amber", request={"keep": ["x", "y", "z"]},
        raw="CREATE OR REPLACE TABLE raw AS SELECT *, 1 AS x, 1 AS y, 1 AS z FROM raw",
        released=(
            "CREATE OR REPLACE TABLE released AS SELECT label_a AS a, label_b AS b, s, n, x, y, z "
            "FROM whole"
        ),
    ),
    "people with ten rows": Plant(
        "people", "red", request={"identifiers": ["id", "patient_id"]}, raw=PATIENTS
    ),
    "people with ten rows, of which each counts": Plant(
        "people", "amber", request={"identifiers": ["id", "patient_id"], "unit": "row"},
        raw=PATIENTS,
    ),
    "kept values that two rows have": Plant(
        "kept", "red", request={"keep": ["pair"]}, raw=PAIR.format("id // 2"), released=WITH_PAIR
    ),
    "kept values of some rows that two have": Plant(
        "kept", "amber", request={"keep": ["pair"]}, raw=PAIR.format("if(id < 20, id // 2, -1)"),
        released=WITH_PAIR,
    ),
    "certain of two classes": Plant("certain", "red", raw=one_value(2), request=LOOSE),
    "certain of five persons": Plant(
        "certain", "amber", raw="UPDATE raw SET s = 'v1' WHERE id < 5", request=LOOSE,
        group="CASE WHEN id < 5 THEN -1 WHEN id < 20 THEN -2 ELSE id // 20 END",
    ),
    "inferred of two classes": Plant("inferred", "red", raw=RARE.format(40), request={"t": None}),
    "inferred of six persons": Plant(
        "inferred", "amber",
        raw="UPDATE raw SET s = 'common' WHERE id % 4 < 2; UPDATE raw SET s = 'rare' WHERE id < 5",
        request={"t": None},
        group="CASE WHEN id < 6 THEN -1 WHEN id < 20 THEN -2 ELSE id // 20 END",
    ),
    "a group that is nearly one value of an even column": Plant(
        "inferred", "red",
        raw="UPDATE raw SET s = if(id < 500, if(id = 7, 'no', 'yes'), if(id = 700, 'yes', 'no'))",
        group="id // 500", request={"t": None},
    ),
    "lifted": Plant(
        "lifted", "amber",
        raw="UPDATE raw SET s = 'rare' WHERE id < 60 AND id % 2 = 0", request={"t": None},
    ),
    "l alone on a column of 94 to 6 %": Plant(
        "l_alone", "amber", raw="UPDATE raw SET s = if(id % 20 = 3 OR id % 100 = 7, 'yes', 'no')",
        request={"t": None, "sensitive": ["s"], "keep": ["n"], "unique_share": 1.0},
    ),
    "near of many": Plant(
        "near", "red", raw="UPDATE raw SET n = id // 20 * 2 + id % 2", request={"t": None}
    ),
    "near of two classes": Plant(
        "near", "amber", raw="UPDATE raw SET n = 50 + id % 2 WHERE id < 40", request={"t": None}
    ),
    "half of the detail is lost": Plant(
        "gcp", "red", group="id % 3", released=WIDE.format(column="a")
    ),
    "a third of the detail is lost": Plant("gcp", "amber", released=COARSER.format(a=800, b=2)),
    "means without variance": Plant("gcp", "red", group="id % 3", released=MEANS.format(group="id % 3")),
    "means with half the variance": Plant(
        "gcp", "amber",
        released=MEANS.format(group="CASE WHEN id % 5 < 2 THEN -1 - id % 2 ELSE id // 20 END"),
    ),
    "a column of means beside one of least values": Plant(
        "gcp", "amber",
        released=MEANS.format(group="id // 20").replace("avg(b)", "min(b::DOUBLE)"),
    ),
    "counts as wrong as from nothing": Plant("query_error", "red", group="id % 2"),
    "counts half as wrong": Plant("query_error", "amber", released=COARSER.format(a=60, b=6)),
    "most columns say nothing": Plant(
        "columns", "red", released=WIDE.format(column="a") + ";" + WIDE.format(column="b")
    ),
    "one of two columns says nothing": Plant("columns", "amber", released=WIDE.format(column="b")),
    "weights with a unit in groups of ten": Plant(
        "texts", "amber", released=SETS.format(text="a || ' kg'", group="id // 20")
    ),
    "weights with a unit in groups that span all": Plant(
        "texts", "red", group="id % 3", released=SETS.format(text="a || ' kg'", group="id % 3")
    ),
    "sets of thirty codes in some rows": Plant(
        "sets", "amber",
        released=SETS.format(text="'k' || a", group="if(id < 120, 1000 + id // 60, id // 20)"),
    ),
    "sets of thirty codes": Plant(
        "sets", "red", group="id // 60", released=SETS.format(text="'k' || a", group="id // 60")
    ),
    "a third of the rows suppressed": Plant("suppression", "red", released=STARS.format(34)),
    "a tenth of the rows suppressed": Plant("suppression", "amber", released=STARS.format(10)),
    "a value left out": Plant(
        "distribution", "red", request={"suppressed": "drop"},
        released="DELETE FROM released WHERE s = 'v1' AND n < 60",
    ),
    "a value left out here and there": Plant(
        "distribution", "amber", request={"suppressed": "drop"},
        released="DELETE FROM released WHERE s = 'v1' AND n < 20",
    ),
    "no sensitive column": Plant(
        "choice", "amber", request={"sensitive": [], "keep": ["s"], **LOOSE},
        released="CREATE OR REPLACE TABLE released AS SELECT label_a AS a, label_b AS b, s FROM whole",
    ),
    "k below the floor of the public": Plant("choice", "amber", environment="public"),
    "roles that are not confirmed": Plant("roles", "amber", confirmed=False),
}  # fmt: skip
