"""How well releases answer queries, and what asking costs: python benchmarks/query_error.py FOLDER [METHOD …] [--queries N]

FOLDER holds adult.parquet. A row per method and k on the 30,162 complete rows of Adult's train
split: random workloads with 2 and 4 attributes (mean, median and 90th percentile of the relative
error, share of answers in their bounds) and Q1 to Q4 of M-COF, literal and estimated. Then, for
anonymize at k = 10, the CPU time of 1,000 queries as a multiple of what DuckDB needs for the raw queries one by one.
"""

import argparse
import time

import anon_sql
from anon_sql.hosts.duckdb.sql_files import sql_files

QUASI = [
    *("age", "workclass", "education_num", "marital_status"),
    *("occupation", "race", "sex", "native_country"),
]
HIERARCHY = ("basic_mondrian", "datafly")
SLOW = ("oka", "k_member", "top_down")  # only when named after FOLDER
NUMERIC = ["age", "fnlwgt", "capital_loss", "capital_gain", "hours_per_week"]
COMPLETE = (
    "split = 'train' AND workclass IS NOT NULL AND occupation IS NOT NULL "
    "AND native_country IS NOT NULL"
)


def spent(call):
    """CPU seconds of a call."""
    started = time.process_time()
    call()
    return time.process_time() - started


def asked():
    """The command line; methods: those named, else every quick one."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    found = [file.name for file in sql_files() if file.folder == "release"]
    quick = [name for name in found if name not in SLOW]
    parser.add_argument("methods", nargs="*", default=quick, metavar="METHOD")
    parser.add_argument("--queries", type=int, default=1000)
    return parser.parse_args()


def main() -> None:
    call = asked()
    con = anon_sql.connect()
    con.execute("SET enable_progress_bar = false")
    con.execute(f"CREATE TABLE adult AS FROM '{call.folder}/adult.parquet' WHERE {COMPLETE}")
    columns = [name for name, *_ in con.execute("DESCRIBE adult").fetchall()]
    print(
        "method          k attributes queries   mean median    p90 covered |    Q1    Q2    Q3    Q4 (literal)"
        " |    Q1    Q2    Q3    Q4 (estimate)"
    )
    con.execute(
        f"CREATE TABLE h AS FROM read_hierarchies('{call.folder}/hierarchies/adult/*.csv') "
        "WHERE attribute <> 'education' UNION ALL BY NAME "
        "FROM numeric_hierarchy('adult', 'education_num', widths := [4, 8])"
    )
    for method in call.methods:
        quasi = NUMERIC if method == "canon" else QUASI
        tree = ", hierarchy := 'h'" if method in HIERARCHY else ""
        keep = [name for name in columns if name not in quasi]
        for k in (10, 50):
            con.execute(
                f"CREATE OR REPLACE TABLE released AS FROM {method}('adult', k := {k}, "
                f"quasi := {quasi}, keep := {keep}{tree})"
            )
            papers = []
            for mode in ("literal", "estimate"):
                rows = con.execute(
                    "SELECT relative_error FROM query_error('adult', 'released', "
                    f"paper_queries('m_cof'), mode := '{mode}', quasi := {quasi}{tree})"
                ).fetchall()
                papers.append(" ".join(f"{error:5.3f}" for (error,) in rows))
            for attributes in (2, 4):
                con.execute(
                    "SET VARIABLE asked = (SELECT list(query) FROM query_workload('adult', "
                    f"n := {call.queries}, attributes := {attributes}, quasi := {quasi}))"
                )
                n, mean, median, high, coverage, _ = con.execute(
                    "FROM workload_error('adult', 'released', getvariable('asked'), "
                    f"quasi := {quasi}{tree})"
                ).fetchall()[0]
                print(
                    f"{method:14}{k:3}{attributes:11}{n:8} {mean:6.3f} {median:6.3f} {high:6.3f}"
                    f" {coverage:7.3f} | {'           | '.join(papers)}",
                    flush=True,
                )
    con.execute(
        f"CREATE OR REPLACE TABLE released AS FROM anonymize('adult', k := 10, quasi := {QUASI}, "
        f"keep := {[name for name in columns if name not in QUASI]})"
    )
    con.execute(
        "SET VARIABLE asked = (SELECT list(query) FROM query_workload('adult', n := 1000, "
        f"attributes := 4, quasi := {QUASI}))"
    )
    queries = [q for (q,) in con.execute("SELECT unnest(getvariable('asked'))").fetchall()]
    plain = [query.replace("FROM raw", "FROM adult") for query in queries]
    one_by_one = min(spent(lambda: [con.execute(q).fetchall() for q in plain]) for _ in range(3))
    query = f"FROM query_error('adult', 'released', getvariable('asked'), quasi := {QUASI})"
    measured = min(spent(lambda: con.execute(query).fetchall()) for _ in range(3))
    print(
        f"\n1,000 raw queries one by one {one_by_one:.2f} s, query_error {measured:.2f} s", end=""
    )
    print(f" of CPU time: {measured / one_by_one:.1f} times")


if __name__ == "__main__":
    main()
