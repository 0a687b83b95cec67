"""The real tables, as in the papers."""

from pathlib import Path

import duckdb

from anon_sql.apps.cli.data import COLUMNS
from anon_sql.core.names import literal

NUMBERS = ["age", "fnlwgt", "capital_loss", "capital_gain", "hours_per_week"]
MIXED = [
    *("age", "workclass", "education", "marital_status"),
    *("occupation", "race", "sex", "native_country"),
]
DIABETES = [
    *("mean_age", "num_medications", "number_outpatient", "num_lab_procedures"),
    *("num_procedures", "number_emergency", "number_inpatient", "number_diagnoses"),
]


def adult(con: duckdb.DuckDBPyConnection, data: Path, rows: int | None) -> int:
    """Create ``adult``, the complete rows of the train split in file order; return their number."""
    complete = " AND ".join(f"{name} IS NOT NULL" for name in COLUMNS)
    made = con.execute(
        f"CREATE TABLE adult AS SELECT {', '.join(COLUMNS)} "
        f"FROM {literal(f'{data}/adult.parquet')} WHERE split = 'train' AND {complete} "
        f"LIMIT {'NULL' if rows is None else rows}"
    )
    return int(made.fetchall()[0][0])


def diabetes(con: duckdb.DuckDBPyConnection, data: Path, rows: int | None) -> int:
    """Create ``diabetes``, with mean_age the middle of ten years; return the number of rows."""
    made = con.execute(
        "CREATE TABLE diabetes AS SELECT regexp_extract(age, '[0-9]+')::INTEGER + 5 AS mean_age, "
        f"{', '.join(DIABETES[1:])}, readmitted FROM {literal(f'{data}/diabetes.parquet')} "
        f"LIMIT {'NULL' if rows is None else rows}"
    )
    return int(made.fetchall()[0][0])


def selected(
    con: duckdb.DuckDBPyConnection, name: str, source: str, columns: list[str], rows: str
) -> None:
    """Create table ``name`` with columns of another table; ``rows`` follows FROM in SQL."""
    con.execute(f"CREATE TABLE {name} AS SELECT {', '.join(columns)} FROM {source} {rows}")


def hierarchies(con: duckdb.DuckDBPyConnection, data: Path) -> None:
    """Create ``all_trees``, the hierarchies of Adult, and ``trees``, the same without age."""
    files = literal(f"{data}/hierarchies/adult/*.csv")
    con.execute(f"CREATE TABLE all_trees AS FROM read_hierarchies({files})")
    con.execute("CREATE TABLE trees AS FROM all_trees WHERE attribute <> 'age'")


def flat(con: duckdb.DuckDBPyConnection, table: str, columns: list[str]) -> None:
    """Create ``flat``, hierarchies of two levels: the values of a column, and *."""
    parts = [
        f"SELECT '{name}' AS attribute, value, level, if(level = 0, value, '*') AS label "
        f"FROM (SELECT DISTINCT {name} AS value FROM {table}), range(2) AS levels(level)"
        for name in columns
    ]
    con.execute(f"CREATE TABLE flat AS {' UNION ALL '.join(parts)}")
