"""What an attacker who knows the algorithm learns, exactly: every table of sensitive values is tried.

    python benchmarks/known_algorithm.py [--people 10] [--tables 20] [--ties] [--transparent] [method …]

The attacker knows the quasi-identifiers of all people (two numbers), the method, its parameters and
its seed, and sees a release. Each assignment of a sensitive value of two to the people is a world;
worlds that give the same release cannot be told apart. Prints a row for each method, l and order of
rows:

- certain: the share of people whose value is the same in all worlds that give the release, although
  their class has both values;
- anybody: the share of releases that have such a person;
- better: the share of people whose likelier value is likelier than by their class alone.

All are means over tables and worlds. The order 'all columns' is a control: rows are sorted by a hash
of the sensitive value too, as releases were before the row hash had version 2.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql import kernels
from anon_sql.core import table as core
from anon_sql.pipeline.compute import release
from anon_sql.pipeline.request import Relation, Source, checked

METHODS = ["rayden", "canon", "oka", "top_down", "k_member", "mondrian", "mondrian_cof", "dop"]
METHODS += ["anonymize fast", "anonymize good"]
VALUE_BLIND = core.canonical_order
KEY = "a secret of the owner"
TYPES = {"a": "INTEGER", "b": "INTEGER", "s": "INTEGER"}


def by_all_columns(columns: Sequence[Any], hashes: Any, ties: Any = None) -> Any:
    """Return the order by a hash of every column, the control."""
    found = np.array(hashes, np.uint64)
    for column in columns:
        kernels.hashing.mix_in(found, column.keys, column.present)
    return kernels.orders.by_hash(found)


ORDERS = {"quasi-identifiers": VALUE_BLIND, "all columns": by_all_columns}


def observed(request: Any, quasi: dict[str, pa.Array], values: tuple[int, ...]) -> Any:
    """Return the class of each person as the release shows it, and the values of each class."""
    sensitive = np.array(values, np.uint64)
    hashes = kernels.hashing.mix(np.full(len(values), 7, np.uint64), sensitive.view(np.int64))
    keys = pa.array([bytes([1, value]) for value in values], pa.binary())
    made = release(Source(quasi, pa.array(hashes), {"s": keys}), request)
    class_of = np.empty(len(values), np.int64)
    class_of[made.position] = made.class_of
    labels = list(
        zip(
            *(
                each.printed.take(pa.array(each.label_of)).to_pylist()
                for each in made.labels.values()
            ),
            strict=True,
        )
    )
    shown = [labels[at] for at in class_of]
    return tuple(shown), tuple(sorted(zip(shown, values, strict=True)))


def attacked(request: Any, quasi: dict[str, pa.Array], people: int) -> tuple[Fraction, ...]:
    """Return certain, anybody and better, means over all worlds of one table."""
    worlds: dict[Any, list[tuple[int, ...]]] = defaultdict(list)
    for values in product((0, 1), repeat=people):
        try:
            found = observed(request, quasi, values)
        except Exception as error:  # l of a table that lacks it
            if "sensitive" not in str(error) and "must" not in str(error):
                raise
            continue
        # rows that look alike are exchangeable to who does not know them, and people are known by
        # their quasi-identifiers: the release shows the labels, and the values below each
        worlds[found].append(values)
    total = sum(map(len, worlds.values()))
    certain = anybody = better = Fraction(0)
    for (shown, rows), own in worlds.items():
        of_class = Counter(shown)
        ones = Counter(label for label, value in rows if value)
        sure = 0
        for person, label in enumerate(shown):
            share = Fraction(ones[label], of_class[label])
            posterior = Fraction(sum(world[person] for world in own), len(own))
            sure += 0 < share < 1 and posterior in (0, 1)
            better += (max(posterior, 1 - posterior) > max(share, 1 - share)) * len(own)
        certain += sure * len(own)
        anybody += (sure > 0) * len(own)
    return certain / total / people, anybody / total, better / total / people


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("methods", nargs="*", default=METHODS)
    asked.add_argument("--people", type=int, default=10)
    asked.add_argument("--tables", type=int, default=20)
    asked.add_argument("--k", type=int, default=3)
    asked.add_argument("--l", type=int, nargs="*", default=[1, 2])
    asked.add_argument("--ties", action="store_true", help="people with equal quasi-identifiers")
    asked.add_argument("--transparent", action="store_true", help="of transparent releases")
    given = asked.parse_args()
    print(
        "| method | l | order of rows by | certain | anybody | better |\n|---|---|---|---|---|---|"
    )
    for name in given.methods:
        method, _, effort = name.partition(" ")
        for least, (order, function) in product(given.l, ORDERS.items()):
            more: dict[str, Any] = {"effort": effort} if effort else {}
            more |= {"transparent": True, "key": KEY} if given.transparent else {}
            request = checked(
                method,
                Relation(TYPES),
                {"k": given.k, "l": least, "quasi": ["a", "b"], "sensitive": "s", **more},
            )
            core.canonical_order = function
            sums = [Fraction(0)] * 3
            for number in range(given.tables):
                rng = np.random.default_rng(number)
                wide = 4 if given.ties else 100
                quasi = {
                    n: pa.array(rng.integers(0, wide, given.people).astype(np.int32)) for n in "ab"
                }
                found = attacked(request, quasi, given.people)
                sums = [a + b for a, b in zip(sums, found, strict=True)]
            figures = " | ".join(f"{float(each / given.tables):.3f}" for each in sums)
            print(f"| {name} | {least} | {order} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
