"""What DuckDB needs of other packages is installed with this one."""

import datetime
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_values_with_a_time_zone_are_read_on_a_fresh_install(con):
    """DuckDB imports pytz for them and does not depend on it, nor does pandas 3."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert [name for name in project["dependencies"] if name.startswith("pytz>=")]
    con.execute(
        "CREATE TABLE t AS SELECT TIMESTAMPTZ '2020-01-01 10:00:00+00' AS born, 1 AS n FROM range(4)"
    )
    kept = "mondrian('t', k := 2, qids := 'n', keep := 'born')"
    ((found,),) = con.execute(f"SELECT DISTINCT born FROM {kept}").fetchall()
    assert found == datetime.datetime(2020, 1, 1, 10, tzinfo=datetime.UTC)
