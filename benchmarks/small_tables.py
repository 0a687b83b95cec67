"""In how many small tables another method loses less than ``anonymize`` does.

    python benchmarks/small_tables.py [tables] [--seed N]

Releases made tables of 20 to 800 rows and one to eight columns (numbers, texts, NULLs) by every
method that fits them, at two k of 2 to 20: at k alone, with weights, with hierarchies of the whole
numbers, and with l or t. For each kind the lines print the comparisons, those in which another
method had a lower GCP, and by how much at most.
"""

import argparse
import random

import anon_sql

ROWS = (20, 30, 40, 60, 80, 120, 200, 300, 500, 800)
KS = (2, 3, 5, 10, 20)
KINDS = {
    "k alone": lambda draw, quasi, whole: "",
    "weights": lambda draw, quasi, whole: ", weights := {{{}}}".format(
        ", ".join(f"'{name}': {draw.choice((0.1, 0.5, 1, 2))}" for name in quasi)
    ),
    "hierarchies": lambda draw, quasi, whole: ", hierarchy := 'trees'" if whole else "",
    "l or t": lambda draw, quasi, whole: draw.choice(
        (", l := 2", ", t := 0.3", ", l := 2, t := 0.4")
    ),
}


def columns(draw: random.Random, count: int) -> list[tuple[str, bool]]:
    """Return expressions over i, and whether they are whole numbers."""
    found = []
    for _ in range(count):
        value = f"hash(i + {draw.randrange(10**9)})"
        values = draw.choice((2, 3, 5, 10, 50))
        number, null = f"({value} % {values})::INTEGER", draw.random() < 0.3
        kind = draw.choice(("number", "text", "skewed"))
        text = {
            "number": number,
            "text": f"'v' || {value} % {values}",
            "skewed": f"exp(({value} % 1000) / 150.0)",
        }[kind]
        text = f"if({value} % 9 = 0, NULL, {text})" if null else text
        found.append((text, kind == "number"))
    return found


def main() -> None:
    """Print a line for each kind of table."""
    read = argparse.ArgumentParser()
    read.add_argument("tables", nargs="?", type=int, default=100)
    read.add_argument("--seed", type=int, default=1)
    given = read.parse_args()
    con = anon_sql.connect()
    print("tables       comparisons  another loses less  at most by")
    for kind, asks in KINDS.items():
        draw, more = random.Random(given.seed), []
        for _ in range(given.tables):
            rows = draw.choice(ROWS)
            made = columns(draw, draw.randint(1, 8))
            quasi = [f"c{at}" for at in range(len(made))]
            whole = [name for name, (_, is_whole) in zip(quasi, made, strict=True) if is_whole]
            listed = ", ".join(f"{made[at][0]} AS {name}" for at, name in enumerate(quasi))
            seed = draw.randrange(10**9)
            con.execute(
                f"CREATE OR REPLACE TABLE made AS SELECT {listed}, 's' || hash(i + {seed}) % 3 AS s "
                f"FROM range({rows}) AS made(i)"
            )
            if whole:
                trees = (f"FROM numeric_hierarchy('made', '{c}', widths := [5, 25])" for c in whole)
                con.execute(f"CREATE OR REPLACE TABLE trees AS {' UNION ALL '.join(trees)}")
            ks = draw.sample([k for k in KS if 2 * k <= rows], 2)
            found: dict[int, dict[str, float]] = {}
            for method, k, gcp in con.execute(
                f"SELECT method, k, gcp FROM compare('made', ks := {ks}, quasi := {quasi}, "
                f"sensitive := ['s'], keep := ['*']{asks(draw, quasi, whole)}) WHERE gcp IS NOT NULL"
            ).fetchall():
                found.setdefault(k, {})[method] = gcp
            more += [
                each.pop("anonymize") / max(min(each.values()), 1e-9) - 1 for each in found.values()
            ]
        above = [each for each in more if each > 1e-9]
        most = f"{max(above, default=0):.1%}"
        print(f"{kind:12}{len(more):12}{len(above):20}{most:>12}", flush=True)


if __name__ == "__main__":
    main()
