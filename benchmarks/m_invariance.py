"""What five monthly releases that keep their groups of values lose, beside five that do not.

    python benchmarks/m_invariance.py ADULT.parquet [l …]

The complete rows of Adult, split in months: 15,000 persons at first; each month 20 % leave and as
many come. Seven quasi-identifiers, occupation is sensitive (14 values), k = 10. A row for each month
and l: the information loss (GCP) of anonymize with l alone, of anonymize with invariant and previous,
their ratio, and their seconds. Below: for how many persons the five releases together leave one
occupation, or fewer than l, counted by composition.
"""

import sys
import time

import anon_sql

FIRST, CHANGE, MONTHS, K = 15_000, 3_000, 5, 10
QIDS = ["age", "workclass", "education_num", "marital_status", "race", "sex", "native_country"]
ROLES = f"qids := {QIDS}, sensitive := 'occupation', entity := 'person'"


def months(con, path: str) -> None:
    """Make everyone, in a random order, and the table of each month: persons by number."""
    columns = ", ".join(QIDS)
    con.execute(
        f"CREATE TABLE everyone AS SELECT row_number() OVER (ORDER BY hash(a)) AS person, {columns}, "
        f"occupation FROM '{path}' AS a "
        "WHERE workclass IS NOT NULL AND occupation IS NOT NULL AND native_country IS NOT NULL"
    )
    for month in range(MONTHS):
        low = month * CHANGE
        con.execute(
            f"CREATE TABLE month_{month} AS FROM everyone "
            f"WHERE person > {low} AND person <= {low + FIRST}"
        )


def released(con, month: int, least: int, more: str, name: str) -> tuple[float, float]:
    """Make a release and return its loss and seconds."""
    started = time.perf_counter()
    call = f"anonymize('month_{month}', k := {K}, l := {least}, {ROLES}{more})"
    con.execute(f"CREATE OR REPLACE TABLE {name}_{month} AS FROM {call}")
    seconds = time.perf_counter() - started
    gcp = f"SELECT gcp('month_{month}', '{name}_{month}', qids := {QIDS})"
    return con.sql(gcp).fetchall()[0][0], seconds


def disclosed(con, least: int, name: str) -> tuple[int, int]:
    """Return for how many persons one value is left, and fewer than l."""
    names = [f"{name}_{month}" for month in range(MONTHS)]
    call = f"composition('shown', {names}, id := 'person', l := {least}, qids := {QIDS}, "
    *_, counts = con.sql(
        f"SELECT one_value, below_l FROM {call}sensitive := 'occupation')"
    ).fetchall()
    return counts


def main(path: str, levels: list[int]) -> None:
    con = anon_sql.connect()
    months(con, path)
    con.execute(
        f"CREATE TABLE shown AS FROM everyone WHERE person <= {FIRST + (MONTHS - 1) * CHANGE}"
    )
    for least in levels:
        print(f"l = {least}\nmonth    alone  kept   ratio  seconds alone  seconds kept")
        for month in range(MONTHS):
            earlier = [f"kept_{before}" for before in range(month)]
            more = f", previous := {earlier}" if earlier else ", invariant := true"
            alone, first = released(con, month, least, "", "alone")
            kept, second = released(con, month, least, more, "kept")
            print(
                f"{month + 1:5}  {alone:7.4f}  {kept:.4f}  {kept / alone:4.2f}  {first:13.1f}  "
                f"{second:12.1f}"
            )
        for name in ("alone", "kept"):
            one, below = disclosed(con, least, name)
            print(f"{name}: one value left of {one:,} persons, fewer than l of {below:,}")


if __name__ == "__main__":
    main(sys.argv[1], [int(level) for level in sys.argv[2:]] or [2, 3, 5])
