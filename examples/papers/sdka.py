"""The experiments of SDkA (synthetic records and k-means), with the printed figures.

python examples/papers/sdka.py DATA, the folder of adult and diabetes; needs anon-sql[ml]. With
anon-sql[ctgan], CTGAN makes the synthetic records in a few releases, as `bootstrap` does in
all others.
"""

import importlib.util

import asked
import assessed
import measured
import sdka_page
from released import Columns, Method
from sdka_data import CTGAN, DATA, LEARNED, METHODS, Data, file_of

from anon_sql.core.names import literal


def load(con, data: Data, folder, rows: int | None) -> str:
    """Create the table of a paper, with the complete train rows of Adult; return its name."""
    file, table = file_of(data), data.name.lower().replace(", ", "_")
    complete = " AND ".join(f"{name} IS NOT NULL" for name in data.columns)
    train = "split = 'train' AND " + complete if file == "adult" else "true"
    con.execute(
        f"CREATE TABLE {table} AS SELECT {', '.join(data.columns)}, {data.sensitive} "
        f"FROM {literal(f'{folder}/{file}.parquet')} WHERE {train} "
        f"LIMIT {rows or data.rows or 'NULL'}"
    )
    return table


def run(con, given) -> None:
    assessed.prepare(con)
    for data in [*DATA, *LEARNED]:
        table, columns = load(con, data, given.data, given.rows), Columns(data.columns)
        ks = [k for k in data.ks if k in given.ks] or given.ks
        for method in METHODS:
            for seed in range(1, min(given.seeds, data.seeds if method.drawn else 1) + 1):
                assess(con, data, table, method, seed, ks)
        if data in DATA:
            assessed.learn_raw(con, data.name, table, columns, data.sensitive)
        if importlib.util.find_spec("ctgan"):
            learned = Method(CTGAN, "sdka", generator="ctgan", epochs=int(given.epochs))
            assess(con, data, table, learned, 1, [k for k in data.learned if k in ks])


def assess(con, data: Data, table: str, method: Method, seed: int, ks: list[int]) -> None:
    columns = Columns(data.columns)
    more = f", sensitive := {literal(data.sensitive)}"
    for k in ks:
        method.release(con, table, k, seed, columns, more)
        assessed.assess(con, (data.name, method.name, seed, k), table, columns, data.sensitive)


if __name__ == "__main__":
    given = asked.read("The experiments of SDkA.", [*range(10, 101, 10)], epochs="10")
    sdka_page.write(measured.once(given, run), given)
