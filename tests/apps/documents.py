"""Odd manifests and recipes: seeded mutations of good ones, as text.

``python -m tests.apps.documents SECONDS`` mutates until the time is over, and prints what ends in a
traceback.
"""

import json
import random
import sys
import tempfile
import time
from copy import deepcopy
from pathlib import Path

import anon_sql
from anon_sql import datasets
from tests.command import run

PEOPLE = (
    "SELECT 'n' || i AS name, 20 + i % 20 AS age, if(i % 3 = 0, 'f', 'm') AS sex, "
    "['flu', 'cold', 'gout'][1 + i % 3] AS illness FROM range(60) AS r(i)"
)
BRACKETS = 100_000
ODD = [
    *(None, True, False, 0, 1, -1, 2, 0.5, -0.0, 1e300, 2**31, 2**63, -(2**63), 2**64 + 1, 10**40),
    *(
        "",
        " ",
        "x",
        "../x",
        "/x",
        "\0",
        "\x1b[2J",
        "é" * 300,
        "'; DROP TABLE x; --",
        '"',
        "*",
        "age",
    ),
    *(
        [],
        {},
        [[]],
        [None],
        [0],
        ["age"],
        ["age", "age"],
        {"": 0},
        {"a": {"a": [{}]}},
        [[["x"]] * 3],
    ),
]


def places(document, path=()):
    """Yield the path of each part of a document."""
    if path:
        yield path
    inner = (
        document.items()
        if isinstance(document, dict)
        else enumerate(document)
        if isinstance(document, list)
        else ()
    )
    for key, value in inner:
        yield from places(value, (*path, key))


def mutated(document, draw):
    """A copy with one to three parts replaced, removed, renamed, doubled or exchanged."""
    made = deepcopy(document)
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        every = list(places(made))
        if not every:
            return made
        *above, key = draw.choice(every)
        owner = made
        for step in above:
            owner = owner[step]
        how = draw.randrange(8)
        if how < 4:
            owner[key] = deepcopy(draw.choice(ODD))
        elif how == 4:
            del owner[key]
        elif how == 5 and isinstance(owner, dict):
            owner[draw.choice(["", "x", "../x", f"{key} ", "age", "k"])] = owner.pop(key)
        elif how == 6 and isinstance(owner, list):
            owner.append(deepcopy(owner[key]))
        else:
            *there, other = draw.choice(every)
            found = made
            for step in (*there, other):
                found = found[step]
            owner[key] = deepcopy(found)
    return made


def spoilt(text, draw):
    """The text with a piece of it replaced."""
    at = draw.randrange(len(text))
    pieces = [
        *(
            "",
            "[",
            "]",
            "{",
            "}",
            ",",
            ":",
            '"',
            "\\",
            "\\ud800",
            "\\u0000",
            "NaN",
            "-Infinity",
            "=",
        ),
        *(
            "1e999",
            "9" * 5000,
            "[" * BRACKETS,
            "{" * 1000,
            "[" * 30 + "]" * 30,
            "0x1",
            "1979-05-27",
        ),
        *(text[at : at + draw.randrange(80)] * 2, "\n", "\ufeff", "nan", "inf", "'''"),
    ]
    return text[:at] + draw.choice(pieces) + text[at + draw.choice([0, 0, 1, 1, 5, 40]) :]


def toml(document):
    """A document as TOML; what TOML cannot hold is written as JSON, which may be no TOML."""
    lines = [
        f"{json.dumps(k)} = {value(v)}" for k, v in document.items() if not isinstance(v, dict)
    ]
    for name, table in document.items():
        if isinstance(table, dict):
            lines += [f"[{json.dumps(name)}]"]
            lines += [f"{json.dumps(key)} = {value(each)}" for key, each in table.items()]
    return "\n".join(lines) + "\n"


def value(part):
    if isinstance(part, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {value(v)}" for k, v in part.items()) + "}"
    if isinstance(part, list):
        return "[" + ", ".join(map(value, part)) + "]"
    return '"none"' if part is None else json.dumps(part)


class Office:
    """A folder with a table, linked tables, their releases by recipes and manifests."""

    def __init__(self, folder):
        self.folder = folder
        with anon_sql.connect() as con:
            con.execute(f"COPY ({PEOPLE}) TO '{folder}/people.parquet'")
        with anon_sql.connect(str(folder / "hospital.duckdb")) as con:
            datasets.hospital(con, 40)
        self.call("roles", folder / "people.parquet", "--recipe", folder / "single.toml")
        self.call(
            *("roles", folder / "hospital.duckdb", "--root", "person"),
            *("--recipe", folder / "linked.toml"),
        )
        roles = ("--quasi", "age,sex", "--sensitive", "illness", "--identifier", "name")
        self.call(
            "release", folder / "people.parquet", folder / "safe.parquet", *roles, "--manifest"
        )
        self.call(
            "release",
            folder / "hospital.duckdb",
            f"{folder}/out/",
            "--root",
            "person",
            "--manifest",
        )

    def call(self, *arguments):
        result = run(*arguments)
        assert result.exit_code == 0, result.output

    @property
    def kinds(self):
        """By name the good text, its document, how it is written, and the calls that read it."""
        import tomllib

        folder, page = self.folder, self.folder / "page.json"
        as_json = ("--format", "json", "--overwrite")
        report = ("-o", page, *as_json)
        raw, safe = folder / "people.parquet", folder / "safe.parquet"
        stored, out = folder / "hospital.duckdb", f"{folder}/out/"
        single, linked = folder / "single.toml", folder / "linked.toml"
        calls = {
            "safe.parquet.anon.json": [
                ("verify", safe),
                ("verify", safe, "--raw", raw),
                ("report", raw, safe, *report),
            ],
            "out.anon.json": [
                ("verify", out),
                ("verify", out, "--raw", stored),
                ("report", stored, out, *report),
            ],
            "single.toml": [
                ("release", single, folder / "made.parquet", "--overwrite"),
                ("verify", safe, "--recipe", single),
                ("report", single, safe, *report),
            ],
            "linked.toml": [
                ("release", linked, f"{folder}/made/", "--overwrite"),
                ("verify", out, "--recipe", linked),
                ("report", linked, out, *report),
            ],
        }
        for name, own in calls.items():
            text = (folder / name).read_text("utf-8")
            read, write = (
                (tomllib.loads, toml) if name.endswith("toml") else (json.loads, json.dumps)
            )
            yield name, text, read(text), write, own


def odd(office, seed, name):
    """The odd text of a number, and a call that reads it."""
    draw = random.Random(seed)
    ((text, document, write, calls),) = (each[1:] for each in office.kinds if each[0] == name)
    made = spoilt(text, draw) if draw.random() < 0.3 else write(mutated(document, draw))
    return made, draw.choice(calls)


def wrong(office, name, text, call):
    """What is wrong with the answer to an odd text: a traceback, or more than a sentence."""
    path = office.folder / name
    good = path.read_bytes()
    try:
        path.write_text(text, "utf-8", errors="surrogatepass")
        result = run(*call)
    finally:
        path.write_bytes(good)
    if result.exit_code not in (0, 1, 3, 4):
        return f"exit code {result.exit_code}: {result.output[-500:]}"
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return repr(result.exception)[:500]
    if "Traceback" in result.output:
        return result.output[-500:]
    if result.exit_code == 1 and result.stderr.count("\n") != 1:
        return f"no sentence: {result.stderr[:1000]}"
    return None


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        work, seed = Office(Path(place)), int(sys.argv[2]) if len(sys.argv) > 2 else 0
        names, end, found = [each[0] for each in work.kinds], time.time() + float(sys.argv[1]), 0
        if len(sys.argv) > 3:
            names = [each for each in names if sys.argv[3] in each]
        while time.time() < end:
            for name in names:
                made, call = odd(work, seed, name)
                problem = wrong(work, name, made, call)
                if problem is not None:
                    found += 1
                    sys.stdout.write(f"{seed} {name} {call[0]} {problem}\n")
                    sys.stdout.flush()
            seed += 1
        sys.stdout.write(f"{found} problems, up to text {seed} of {len(names)} kinds\n")
