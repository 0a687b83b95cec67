"""full_domain beside DuckDB's own ORDER BY, in one process.

    python benchmarks/full_domain.py [rows …]

The demonstration table, eight quasi-identifiers, hierarchies whose lattice has 12,960 nodes, k =
10, without suppression and with up to 5 %. Whole statements in turn with an ORDER BY of the
quasi-identifiers, twice each after one run that is not counted, the least of each in wall seconds.
Absolute times are of one machine on one day; the ratios are what is claimed: at most 5.
"""

import sys
import time

import duckdb

import anon_sql
from anon_sql import datasets

QUASI = [
    *("age", "workclass", "education_num", "marital_status"),
    *("occupation", "race", "sex", "native_country"),
]
WIDTHS = {"age": [5, 10, 20, 40], "education_num": [2, 4, 8]}
GROUPS = {  # levels of text: values in alphabetical order, so many to a label
    "workclass": [3],
    "marital_status": [3],
    "occupation": [4],
    "race": [],
    "sex": [],
    "native_country": [5, 20],
}
RUNS = 2


def make_hierarchy(con: duckdb.DuckDBPyConnection) -> int:
    """Make the table ``h`` and return the number of nodes of its lattice."""
    con.execute(
        "CREATE OR REPLACE TABLE h (attribute VARCHAR, value VARCHAR, level INT, label VARCHAR)"
    )
    nodes = 1
    for name, widths in WIDTHS.items():
        con.execute(f"INSERT INTO h FROM numeric_hierarchy('adult_like', '{name}', {widths})")
        nodes *= len(widths) + 2
    for name, sizes in GROUPS.items():
        for level, size in enumerate([*sizes, 10**6], 1):
            con.execute(
                f"INSERT INTO h SELECT '{name}', value, {level}, "
                f"if({size} = 1000000, '*', '{name} {level} ' || (place // {size})) FROM (SELECT "
                f"{name} AS value, row_number() OVER (ORDER BY {name}) - 1 AS place FROM "
                f"(SELECT DISTINCT {name} FROM adult_like WHERE {name} IS NOT NULL))"
            )
        nodes *= len(sizes) + 2
    return nodes


def main() -> None:
    con = anon_sql.connect()
    print("     rows   nodes  limit  ORDER BY s  release s  ratio")
    for rows in [int(rows) for rows in sys.argv[1:]] or [100_000, 1_000_000]:
        datasets.adult(con, rows, table="adult_like", seed=42, roles=False)
        nodes = make_hierarchy(con)
        for limit in (0, 0.05):
            given = f"'adult_like', k := 10, quasi := {QUASI}, hierarchy := 'h'"
            release = f"{given}, keep := ['*'], suppression_limit := {limit}"
            statements = (
                f"CREATE OR REPLACE TABLE sorted AS FROM adult_like ORDER BY {', '.join(QUASI)}",
                f"CREATE OR REPLACE TABLE release AS FROM full_domain({release})",
            )
            seconds: list[list[float]] = [[], []]
            for _ in range(RUNS + 1):
                for statement, times in zip(statements, seconds, strict=True):
                    started = time.perf_counter()
                    con.execute(statement)
                    times.append(time.perf_counter() - started)
            sort, made = (min(times[1:]) for times in seconds)
            print(
                f"{rows:9,}{nodes:8,}{limit:7.2f}{sort:12.2f}{made:11.2f}{made / sort:7.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
