"""Rows that are no people: a total at the end and a second header are named, and not removed."""

import duckdb
import pytest

from tests.apps.studio.test_studio_first_screen import bench
from tests.command import run

ROWS = "".join(f"{20 + i % 9},{50 + i % 40}.5,{'fm'[i % 2]}\n" for i in range(60))
TOTAL = "its last row looks like a total, not like a person; remove that line"
HEADER = "its first row looks like a second header, since 2 columns are numbers or dates but for it"


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ("Total,3000,\n", True),
        (",3000,Summe:\n", True),
        ("GESAMT,,\n", True),
        ("Grand total,1,f\n", True),
        ("Total war,3000,f\n", False),
        ("29,89.5,f\n", False),
    ],
)
def test_a_total_row_is_named_by_every_command(tmp_path, last, said):
    path, out = tmp_path / "people.csv", tmp_path / "out.parquet"
    path.write_text("age,weight,sex\n" + ROWS + last)
    found = run("release", path, out, "--quasi", "age,sex", "--keep", "weight", "--k", 1)
    assert found.exit_code == 0, found.output
    assert duckdb.sql(f"SELECT count(*) FROM '{out}'").fetchall() == [(61,)]  # not removed
    for result in (found, run("roles", path), run("audit", path, "--quasi", "age")):
        assert (f"people.csv: {TOTAL}" in result.stderr) == said
    noticed = bench(tmp_path, path.read_bytes()).table()["noticed"]
    assert (noticed.get("") is not None) == said


@pytest.mark.parametrize(
    ("first", "said"),
    [
        ("years,kg,\n", True),
        ("Alter,Gewicht,Geschlecht\n", True),
        ("x,60.5,f\n", False),
        ("", False),
    ],
)
def test_a_second_header_is_named(tmp_path, first, said):
    path = tmp_path / "people.csv"
    path.write_text("age,weight,sex\n" + first + ROWS)
    result = run("roles", path, "--header")
    assert (f"people.csv: {HEADER}" in result.stderr) == said
