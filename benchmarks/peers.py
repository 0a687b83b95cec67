"""What other Python packages lose and cost on the same tables, with the same k and the same scorer.

    python benchmarks/peers.py [--environment DIR] [--k K] [--limit SECONDS] [--picture FILE]
                               [--rows N …] [--columns N …]
    python benchmarks/peers.py --redraw docs/measurements/other-packages.md --picture FILE

Makes a virtual environment in DIR, unless it is there, and installs PACKAGES into it from the package
index. Each release runs in a process of its own, which is ended after SECONDS. It reads a CSV file,
releases it, and writes the class of each row that it does not suppress. A line shows the loss (GCP:
the tightest labels that these classes allow, of numbers the range / the range in the table, of
categories the share of the table's values; a suppressed row loses everything), processor seconds and
seconds of the release, and the memory above that with the table read. A peer that fails shows how,
and is not tried on larger tables. Rows: Adult-like tables of eight quasi-identifiers; columns: tables
of COLUMN_ROWS rows, numbers and categories in turn, which depend on three hidden numbers.
"""

import argparse
import csv
import json
import math
import re
import resource
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

PACKAGES = ("anonypy==0.2.1", "anjana==1.2.3", "umbra-k==0.1.0")
ROWS, COLUMNS, COLUMN_ROWS = (10_000, 100_000, 1_000_000, 10_000_000), (2, 5, 10, 20, 40), 5_000
OWN = {"anonymize, fast": "fast", "anonymize, good": "good"}
PEERS = {
    "anonypy: Mondrian": "anonypy",
    "umbra-k: Mondrian": "umbra",
    "anjana: full domain": "anjana",
}
SUPPRESSED = 5  # percent of rows that anjana may suppress
COLOURS = ("#0072b2", "#222222", "#d55e00", "#e69f00", "#009e73")
DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 2")
Run = Callable[[], Any]


def numeric(frame: Any, name: str) -> bool:
    return frame[name].dtype.kind in "iuf"


def by_anonypy(frame: Any, quasi: list[str], k: int) -> Run:
    """The number of a row is its sensitive value, so that the result has a line for each row."""
    from anonypy import Preserver

    for name in quasi:
        if not numeric(frame, name):
            frame[name] = frame[name].astype("category")

    def run() -> Any:
        import pandas

        preserver = Preserver(frame[[*quasi, "rid"]], quasi, "rid")
        return pandas.DataFrame(preserver.anonymize_k_anonymity(k))

    return run


def by_umbra(frame: Any, quasi: list[str], k: int) -> Run:
    from umbra_k import MondrianAnonymizer

    return lambda: MondrianAnonymizer(k=k, quasi_id=quasi).fit_transform(frame)


def by_anjana(frame: Any, quasi: list[str], k: int) -> Run:
    """Hierarchies: numbers in twice as wide ranges a level, categories at once to ``*``."""
    from anjana.anonymity import k_anonymity

    hierarchies = {}
    for name in quasi:
        values = frame[name].to_numpy()
        levels = {0: values}
        if numeric(frame, name):
            least, width = values.min(), max((values.max() - values.min() + 1) / 32, 1)
            for level in range(1, 6):
                low = (values - least) // width
                levels[level] = [f"{level}: {each}" for each in low]
                width *= 2
        levels[len(levels)] = ["*"] * len(values)
        hierarchies[name] = levels
    return lambda: k_anonymity(frame, [], quasi, k, SUPPRESSED, hierarchies)


def by_own(effort: str) -> Callable[[Any, list[str], int], Run]:
    def made(frame: Any, quasi: list[str], k: int) -> Run:
        from anon_sql import frames

        def run(of: Any = frame) -> Any:
            return frames.anonymize(of, k=k, quasi=quasi, keep=["rid"], effort=effort, threads=2)

        run(frame.head(2000))  # loads the kernels
        return run

    return made


WAYS = {
    "anonypy": by_anonypy,
    "umbra": by_umbra,
    "anjana": by_anjana,
    "fast": by_own("fast"),
    "good": by_own("good"),
}


def release(way: str, path: str, k: int) -> None:
    """Release a file in this process; write the class of each row beside it, and print the cost."""
    import pandas

    frame = pandas.read_csv(path)
    quasi = [name for name in frame.columns if name != "rid"]
    run = WAYS[way](frame, quasi, k)
    before, wall, cpu = peak(), time.perf_counter(), time.process_time()
    found = run()
    cost = {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "memory": peak() - before,
    }
    found = found[(found[quasi].astype(str) != "*").any(axis=1)]
    labels = found[quasi].apply(lambda column: pandas.factorize(column.astype(str))[0])
    groups = labels.groupby(quasi, sort=False).ngroup()
    pandas.DataFrame({"rid": found["rid"].to_numpy(), "class": groups.to_numpy()}).to_csv(
        f"{path}.{way}", index=False
    )
    print(json.dumps(cost))


def peak() -> float:
    """Return the most memory of this process so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def loss(path: Path, released: Path, k: int) -> float:
    """Return the GCP of the classes in a file. Raises ValueError for one below k."""
    import duckdb

    con = duckdb.connect()
    con.execute(f"CREATE TABLE t AS FROM read_csv('{path}')")
    con.execute(f"CREATE TABLE c AS FROM read_csv('{released}')")
    rows, many = con.execute("SELECT (SELECT count(*) FROM t), count(*) FROM c").fetchall()[0]
    sizes = "SELECT min(n) FROM (SELECT count(DISTINCT rid) AS n FROM c GROUP BY class)"
    smallest = con.execute(sizes).fetchall()[0][0]
    if many and smallest < k:
        raise ValueError(f"a class of {smallest}")
    kinds = {name: kind for name, kind, *_ in con.execute("DESCRIBE t").fetchall() if name != "rid"}
    own, all_rows = [], []
    for name, kind in kinds.items():
        if kind == "VARCHAR":
            own.append(f"CASE count(DISTINCT {name}) WHEN 1 THEN 0 ELSE count(DISTINCT {name}) END")
            all_rows.append(f"count(DISTINCT {name})")
        else:
            own.append(f"max({name}) - min({name})")
            all_rows.append(f"max({name}) - min({name})")
    widths = con.execute(f"SELECT {', '.join(all_rows)} FROM t").fetchall()[0]
    lost = " + ".join(f"({each}) / {width or 1}" for each, width in zip(own, widths, strict=True))
    query = f"SELECT sum(n * lost) FROM (SELECT count(*) AS n, {lost} AS lost FROM t JOIN c "
    total = con.execute(query + "USING (rid) GROUP BY class)").fetchall()[0][0] or 0.0
    return float(total) / len(kinds) / rows + (rows - many) / rows


def written(path: Path, rows: int, columns: int | None) -> None:
    """Write a table: Adult-like, or of so many columns."""
    from release import NUMERIC, QUASI

    import anon_sql
    from anon_sql import datasets

    if columns is None:
        con = anon_sql.connect()
        datasets.adult(con, rows, table="made", seed=42, roles=False)
        shown = [
            name if name in NUMERIC else f"coalesce({name}::VARCHAR, '?') AS {name}"
            for name in QUASI
        ]
        query = f"SELECT row_number() OVER () AS rid, {', '.join(shown)} FROM made"
        con.execute(f"COPY ({query}) TO '{path}'")
        return
    import numpy as np

    pick = np.random.default_rng(42)
    hidden = pick.normal(size=(rows, 3))
    x = hidden @ pick.normal(size=(3, columns)) + pick.normal(size=(rows, columns))
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["rid", *(f"c{at}" for at in range(columns))])
        whole = np.round(x * 20).astype(int)
        for row in range(rows):
            shown = [
                f"v{whole[row, at] // 20 % 8}" if at % 2 else whole[row, at]
                for at in range(columns)
            ]
            lines.writerow([row + 1, *shown])


def cost(name: str, path: Path, k: int, asked: argparse.Namespace) -> dict[str, Any]:
    """Return loss and cost of one release, or in ``failed`` how it failed."""
    way = OWN.get(name) or PEERS[name]
    python = sys.executable if name in OWN else str(Path(asked.environment) / "bin" / "python")
    call = [python, __file__, "--one", way, "--file", str(path), "--k", str(k)]
    try:
        done = subprocess.run(
            call, check=False, capture_output=True, text=True, timeout=asked.limit
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"ended after {asked.limit} s"}
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        killed = f"killed by signal {-done.returncode}"
        return {"failed": killed if done.returncode < 0 else last[:90]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    try:
        found["loss"] = loss(path, Path(f"{path}.{way}"), k)
    except ValueError as error:
        found["failed"] = str(error)
    return found


def line(name: str, found: dict[str, Any]) -> str:
    """Return a row of the table in Markdown."""
    if "loss" not in found:
        return f"| {name} | {found['failed']} | | | |"
    figures = f"{found['loss']:.4f} | {found['cpu']:.2f} | {found['wall']:.2f}"
    return f"| {name} | {figures} | {max(found['memory'], 0):.2f} |"


def picture(series: dict[str, dict[str, list[tuple[int, float]]]]) -> str:
    """Return an SVG: processor seconds by rows and by columns, both axes logarithmic.

    A negative number of seconds is a process that was ended after so many: a cross.
    """
    parts, wide, high, left, top = [], 330, 260, 72, 34
    for panel, (title, lines) in enumerate(series.items()):
        x0 = left + panel * (wide + 100)
        points = [(x, abs(y)) for each in lines.values() for x, y in each]
        if not points:
            continue
        low_x, high_x = (math.log10(f(x for x, _ in points)) for f in (min, max))
        low_y = math.floor(math.log10(min(y for _, y in points)))
        high_y = math.ceil(math.log10(max(y for _, y in points)))

        def at(x: float, y: float) -> tuple[float, float]:
            across = (math.log10(x) - low_x) / ((high_x - low_x) or 1)  # noqa: B023
            up = (math.log10(y) - low_y) / ((high_y - low_y) or 1)  # noqa: B023
            return x0 + across * wide, top + high - up * high  # noqa: B023

        parts.append(f'<text x="{x0}" y="{top - 16}" font-weight="bold">{title}</text>')
        for power in range(low_y, high_y + 1):
            y = at(10**low_x, 10.0**power)[1]
            parts.append(f'<path d="M{x0} {y:.0f}h{wide}" stroke="#ddd"/>')
            text = f"{10.0**power:g}"
            parts.append(f'<text x="{x0 - 6}" y="{y + 4:.0f}" text-anchor="end">{text}</text>')
        for x in sorted({x for x, _ in points}):
            place, text = at(x, 10.0**low_y)[0], f"{x:,}"
            place = f'x="{place:.0f}" y="{top + high + 18}"'
            parts.append(f'<text {place} text-anchor="middle">{text}</text>')
        axis = title.partition(",")[0].rpartition(" ")[2]  # rows or columns
        place = f'x="{x0 + wide / 2:.0f}" y="{top + high + 36}"'
        parts.append(f'<text {place} text-anchor="middle">{axis}</text>')
        turned = f'transform="translate({x0 - 44} {top + high / 2:.0f}) rotate(-90)"'
        parts.append(f'<text {turned} text-anchor="middle">processor seconds</text>')
        for colour, dash, each in zip(COLOURS, DASHES, lines.values(), strict=True):
            way = " ".join(f"{a:.1f},{b:.1f}" for a, b in (at(x, abs(y)) for x, y in sorted(each)))
            line = f'fill="none" stroke="{colour}" stroke-width="2"'
            parts.append(f'<polyline points="{way}" {line} stroke-dasharray="{dash}"/>')
            for x, seconds in each:
                a, b = at(x, abs(seconds))
                if seconds < 0:
                    cross = f"M{a - 5:.1f} {b - 5:.1f}l10 10m0 -10l-10 10"
                    parts.append(f'<path d="{cross}" {line}/>')
                else:
                    parts.append(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>')
    names = zip(COLOURS, DASHES, [*OWN, *PEERS], strict=True)
    for number, (colour, dash, name) in enumerate(names):
        x, y = left + number % 3 * 260, top + high + 64 + number // 3 * 20
        line = f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"'
        parts.append(f'<path d="M{x} {y - 4}h26" {line}/>')
        parts.append(f'<text x="{x + 34}" y="{y}">{name}</text>')
    x, y = left + 2 * 260, top + high + 84
    parts.append(f'<path d="M{x + 8} {y - 9}l10 10m0 -10l-10 10" stroke="#222" stroke-width="2"/>')
    parts.append(f'<text x="{x + 34}" y="{y}">ended after so many seconds</text>')
    size = f'viewBox="0 0 {left + 2 * wide + 130} {top + high + 100}"'
    font = 'font-family="system-ui, sans-serif" font-size="12" fill="#222"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>'
    ground = '<rect width="100%" height="100%" fill="white"/>'
    return "\n".join([head, ground, *parts, "</svg>"]) + "\n"


def recorded(page: str) -> dict[str, dict[str, list[tuple[int, float]]]]:
    """Return the seconds in the two tables of docs/measurements/other-packages.md."""
    series: dict[str, dict[str, list[tuple[int, float]]]] = {}
    tables = re.findall(r"^\| (rows|columns) \|.*?(?=\n\n)", page, re.MULTILINE | re.DOTALL)
    for axis, table in zip(
        tables, re.split(r"^\| (?:rows|columns) \|", page, flags=re.M)[1:], strict=True
    ):
        more = "8 columns" if axis == "rows" else f"{COLUMN_ROWS:,} rows"
        lines = series.setdefault(
            f"processor seconds by {axis}, {more}", {n: [] for n in [*OWN, *PEERS]}
        )
        size = 0
        for row in table.partition("\n\n")[0].splitlines()[2:]:
            cells = [cell.strip() for cell in row.split("|")[1:-1]]
            size = int(cells[0].replace(",", "")) if cells[0] else size
            ended = re.match(r"ended after (\d+) s", cells[2])
            lines[cells[1]].append((size, -float(ended[1]) if ended else float(cells[3])))
    return series


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--environment", default=str(Path.home() / ".cache" / "anon_sql_peers"))
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--limit", type=int, default=600)
    parser.add_argument("--picture", default="")
    parser.add_argument("--redraw", help="page whose tables are drawn again, without a release")
    parser.add_argument("--rows", nargs="*", type=int, default=ROWS)
    parser.add_argument("--columns", nargs="*", type=int, default=COLUMNS)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.redraw:
        Path(asked.picture).write_text(picture(recorded(Path(asked.redraw).read_text("utf-8"))))
        return
    if asked.one:
        release(asked.one, asked.file, asked.k)
        return
    if not Path(asked.environment).exists():
        venv.create(asked.environment, with_pip=True)
        pip = [str(Path(asked.environment) / "bin" / "python"), "-m", "pip", "install", "-q"]
        subprocess.run([*pip, *PACKAGES], check=True)
    series: dict[str, dict[str, list[tuple[int, float]]]] = {}
    with TemporaryDirectory() as folder:
        for title, sizes in (
            ("processor seconds by rows, 8 columns", asked.rows),
            (f"processor seconds by columns, {COLUMN_ROWS:,} rows", asked.columns),
        ):
            lines = series.setdefault(title, {name: [] for name in [*OWN, *PEERS]})
            failed: set[str] = set()
            for size in sizes:
                path = Path(folder) / f"{size}.csv"
                by_rows = sizes is asked.rows
                written(path, size if by_rows else COLUMN_ROWS, None if by_rows else size)
                print(f"\n{size:,} {'rows' if by_rows else 'columns'}, k = {asked.k}\n")
                print("| | loss | processor seconds | seconds | GB |\n|---|---|---|---|---|")
                for name in lines:
                    if name in failed:
                        continue
                    found = cost(name, path, asked.k, asked)
                    print(line(name, found), flush=True)
                    if "loss" in found:
                        lines[name].append((size, found["cpu"]))
                    else:
                        failed.add(name)
                        if found["failed"].startswith("ended after"):
                            lines[name].append((size, -float(asked.limit)))
                path.unlink()
    if asked.picture:
        Path(asked.picture).write_text(picture(series))


if __name__ == "__main__":
    main()
