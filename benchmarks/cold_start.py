"""What the first call on a fresh installation costs: the seconds of compiling, kernel by kernel.

    python benchmarks/cold_start.py [-v] [call …]

Each call runs in a process of its own with an empty cache of numba, on a thousand rows of the table
of the demonstration. The table gives the number of kernels compiled, the seconds of compiling, and
of the first call (wall and processor) beside those of the second one, which compiles nothing. With
-v follow the kernels, by the seconds of each without the kernels that it calls.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

QUASI = "quasi := ['age', 'workclass', 'education_num', 'marital_status', 'race', 'sex']"
ASKED = f"'adult_like', k := 10, {QUASI}, keep := ['*']"
SENSITIVE = f"'adult_like', k := 10, {QUASI}, sensitive := ['occupation'], keep := ['*'], l := 2"
NUMBERS = "'adult_like', k := 10, quasi := ['age', 'education_num'], keep := ['*']"
CALLS = {
    "rayden": f"FROM rayden({ASKED})",
    "canon": f"FROM canon({NUMBERS})",
    "mondrian": f"FROM mondrian({ASKED})",
    "anonymize": f"FROM anonymize({ASKED})",
    "anonymize_l": f"FROM anonymize({SENSITIVE})",
    "anonymize_l_t": f"FROM anonymize({SENSITIVE}, t := 0.5)",
}


def measure(statement: str) -> dict:
    """Return the seconds of the first and the second run, and of each kernel, in this process."""
    import anon_sql
    from anon_sql import datasets
    from anon_sql.kernels.numba_internals import on_compile

    own, going = [], []

    def start():
        going.append([time.perf_counter(), 0.0])

    def end(function, kinds):
        started, inner = going.pop()
        taken = time.perf_counter() - started
        if going:
            going[-1][1] += taken
        place = f"{function.__module__.removeprefix('anon_sql.kernels.')}.{function.__name__}"
        own.append((place, kinds, taken - inner))

    con = anon_sql.connect()
    datasets.adult(con, 1000, table="adult_like", seed=42, roles=False)
    on_compile(start, end)
    found = {}
    for run in ("first", "second"):
        wall, processor = time.perf_counter(), time.process_time()
        con.execute(statement).fetchall()
        found[run] = [time.perf_counter() - wall, time.process_time() - processor]
    return found | {"kernels": own}


def main() -> None:
    """Print the table."""
    given = sys.argv[1:]
    if given[:1] == ["--one"]:
        print(json.dumps(measure(CALLS[given[1]])))
        return
    print("call            kernels  compiling s  first s  processor s  second s")
    for name in [each for each in given if each != "-v"] or CALLS:
        with tempfile.TemporaryDirectory() as cache:
            text = subprocess.run(
                [sys.executable, __file__, "--one", name],
                env=os.environ | {"NUMBA_CACHE_DIR": cache},
                stdout=subprocess.PIPE,
                check=True,
            ).stdout
        found = json.loads(text)
        kernels = sorted(found["kernels"], key=lambda kernel: -kernel[2])
        compiling = sum(seconds for *_, seconds in kernels)
        (first, processor), (second, _) = found["first"], found["second"]
        print(
            f"{name:16}{len(kernels):7}{compiling:13.1f}{first:9.1f}{processor:13.1f}{second:10.2f}",
            flush=True,
        )
        if "-v" in given:
            for place, types, seconds in kernels:
                print(f"{seconds:8.2f}  {place}  {types}")


if __name__ == "__main__":
    main()
