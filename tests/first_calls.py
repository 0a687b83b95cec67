"""Record the kernels that first calls compile: ``python -m tests.first_calls`` compares the list
with what calls do now, ``--write`` writes it.

Each call runs in a process of its own on a thousand rows, since what one call has loaded the next
does not ask numba for.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from typing import Any

import anon_sql
from anon_sql.apps.cli.compile import METHODS, OWN
from anon_sql.kernels import ahead, numba_internals

TABLE = """
    CREATE TABLE made AS
    SELECT (18 + i * 37 % 60)::INTEGER AS age, i * 11 % 16 AS years,
        ['Accra', 'Bonn', 'Cape Town', 'Delhi'][1 + i // 3 % 4] AS city,
        ['asthma', 'flu', 'none'][1 + i % 3] AS illness
    FROM range(1000) AS made(i);
    CREATE TABLE tree AS
    FROM numeric_hierarchy('made', 'age', widths := [10, 20])
    UNION ALL
    SELECT 'city', city, level, if(level = 2, '*', left(city, 1))
    FROM (SELECT DISTINCT city FROM made), range(1, 3) AS made(level);
"""
QUASI = {
    "canon": "['age', 'years']",
    "basic_mondrian": "['age', 'city']",
    "datafly": "['age', 'city']",
}


def calls() -> dict[str, str]:
    """Return the call of each release function, alone and under rules, by its name in the list."""
    found = {}
    for name in METHODS:
        quasi = QUASI.get(name, "['age', 'years', 'city']")
        given = f"k := 5, quasi := {quasi}, keep := ['*']"
        if "hierarchy" in OWN.get(name, ""):
            given += ", hierarchy := 'tree'"
        for protected in (False, True):
            rules = ", sensitive := ['illness'], l := 2, t := 0.5" if protected else ""
            found[ahead.name_of(name, protected)] = f"FROM {name}('made', {given}{rules})"
    return found


def recorded(call: str) -> list[Any]:
    """Return the kernels that Python calls first in a release, in their order, with their types."""
    found: list[Any] = []
    depth = [0]

    @contextmanager
    def asked(function: Any, kinds: Any) -> Iterator[None]:
        module, _, file = function.__module__.rpartition(".")
        if depth[0] == 0 and module == "anon_sql.kernels":
            with suppress(ValueError):  # a type that is compiled where it is called
                texts = [ahead.text_of(kind) for kind in kinds]
                found.append([f"{file}.{function.__name__}", texts])
        depth[0] += 1
        try:
            yield
        finally:
            depth[0] -= 1

    numba_internals.compile_under(asked)
    with anon_sql.connect() as con:
        con.execute(f"SET enable_progress_bar = false; {TABLE}")
        con.execute(call).fetchall()
    return found


def record() -> dict[str, Any]:
    """Return the content of the list."""
    kernels: list[Any] = []
    found: dict[str, list[int]] = {}
    context = get_context("forkserver")
    context.set_forkserver_preload(["anon_sql.apps.cli.compile", "numba.np.arraymath"])  # once
    with context.Pool(1, maxtasksperchild=1) as pool:
        for name, roots in zip(calls(), pool.map(recorded, calls().values(), 1), strict=True):
            kernels += [each for each in roots if each not in kernels]
            found[name] = [kernels.index(each) for each in roots]
    return {"kernels": kernels, "calls": found}


def written(content: dict[str, Any]) -> str:
    """Return the text of the list, a kernel or a call a line."""
    kernels = ",\n".join(json.dumps(each) for each in content["kernels"])
    found = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in content["calls"].items())
    return f'{{"kernels": [\n{kernels}\n],\n"calls": {{\n{found}\n}}}}\n'


def main() -> None:
    """Write the list, or compare it with what calls do now."""
    text = written(record())
    if "--write" in sys.argv[1:]:
        ahead.FILE.write_text(text, encoding="utf-8")
    elif text != ahead.FILE.read_text(encoding="utf-8"):
        sys.exit("the list of first calls is out of date: python -m tests.first_calls --write")


if __name__ == "__main__":
    main()
