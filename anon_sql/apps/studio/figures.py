"""Ask SQL what the screens show: each figure with the statement whose only value it is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import duckdb

from anon_sql.apps.report import distributions as spread
from anon_sql.apps.report.facts import KNOWN, SAMPLE, largest
from anon_sql.apps.verdict.figures import TABLES, Figure, arguments, rows_of
from anon_sql.core import stopping
from anon_sql.core.names import literal, quote
from anon_sql.core.parameters import takes
from anon_sql.core.roles import fold
from anon_sql.hosts.recipes import Recipe

AT_RISK = 0.09  # re-identification risk that offices of health accept: groups of 11
SETS = 5  # combinations of columns that are listed
STEPS = ((1, 1), (2, 4), (5, 9), (10, 19), (20, 49), (50, None))  # rows that look alike
PAIRS = 8  # raw rows that are shown beside released ones
MASK = "•••"
CHARTS = 4  # columns whose distributions are drawn: those that lost most
_COLUMN = ("distinct_values", "unique_share", "adds_share")
_UTILITY = (
    *("rows", "released_rows", "suppressed", "suppression_rate", "classes", "smallest_class"),
    *("gcp",),
)

Told = dict[str, Any]


def one(con: duckdb.DuckDBPyConnection, name: str, sql: str, column: str | None = None) -> Figure:
    """Return the only value of a statement as a figure."""
    stopping.check("studio")
    ((value,),) = con.execute(sql).fetchall()
    return Figure(name, value, sql, column)


def row(
    con: duckdb.DuckDBPyConnection, call: str, names: Sequence[str], column: str | None = None
) -> list[Figure]:
    """Return values of the only row of a call, each with a statement of its own."""
    stopping.check("studio")
    (values,) = rows_of(con, f"FROM {call}")
    return [Figure(name, values[name], f"SELECT {name} FROM {call}", column) for name in names]


def every_row(every: int) -> str:
    """Return a query of every nth row of the raw table."""
    numbered = "(SELECT *, row_number() OVER () AS __anon_row FROM raw)"
    return f"SELECT * EXCLUDE (__anon_row) FROM {numbered} WHERE __anon_row % {every} = 0"


def of_column(suggestion: Mapping[str, Any], of: str) -> Told:
    """Return a row of ``suggest_roles`` with its numbers as figures. of: the relation."""
    where = f"FROM suggest_roles('{of}') WHERE column_name = {literal(suggestion['column_name'])}"
    numbers = [
        asdict(Figure(name, suggestion[name], f"SELECT {name} {where}", suggestion["column_name"]))
        for name in _COLUMN
    ]
    words = ("column_name", "column_type", "role", "repeats", "entity", "label")
    reason = suggestion["reason"].replace(": name it as entity", ": people have several rows")
    return {**{name: suggestion[name] for name in words}, "reason": reason, "figures": numbers}


def raw_risk(con: duckdb.DuckDBPyConnection, quasi: Sequence[str], *, with_sets: bool) -> Told:
    """Return who is alone or at risk in the raw table, and the sets that single out most.

    without: the columns that can be left out together and single out no more people than the others
    do, with the share that the others single out; None for no such columns.
    """
    options = arguments({"quasi": list(quasi)})
    shares = []
    for name, threshold in (("alone", 0.5), ("at_risk", AT_RISK)):
        call = f"risk('raw', threshold := {threshold}{options})"
        shares.append(one(con, name, f"SELECT prosecutor_at_risk / rows FROM {call}"))
    stopping.check("studio")
    call = f"unique_combinations('raw', max_columns := 2, columns := {_list(quasi)})"
    sets = []
    for each in rows_of(con, f"FROM {call} LIMIT {SETS}") if with_sets else ():
        sql = f"SELECT share FROM {call} WHERE columns = {_list(each['columns'])}"
        name = ", ".join(each["columns"])
        sets.append(asdict(Figure("share", each["share"], sql, name)))
    without = None
    if with_sets and (columns := spare(con, quasi)):
        left = arguments({"quasi": [name for name in quasi if name not in columns]})
        call = f"risk('raw', threshold := 0.5{left})"
        figure = one(con, "alone", f"SELECT prosecutor_at_risk / rows FROM {call}")
        without = {"columns": columns, "figure": asdict(figure)}
    return {"figures": list(map(asdict, shares)), "sets": sets, "without": without}


def spare(con: duckdb.DuckDBPyConnection, quasi: Sequence[str]) -> list[str]:
    """Return columns without which, all at once, the other ones single out the same rows.

    A column that two others repeat is spare beside either, but not without both. So each is tried
    beside those that are left, the one with most values first, because it costs the most detail.
    """

    def alone(names: Sequence[str]) -> int:
        stopping.check("studio")
        by = ", ".join(map(quote, names))
        sql = f"SELECT count(*) FROM (SELECT 1 FROM raw GROUP BY {by} HAVING count(*) = 1)"
        ((count,),) = con.execute(sql).fetchall()
        return int(count)

    left, all_alone = list(quasi), alone(quasi)
    if not all_alone:
        return []
    counts = ", ".join(f"approx_count_distinct({quote(name)})" for name in quasi)
    (values,) = con.execute(f"SELECT {counts} FROM raw").fetchall()
    order = sorted(range(len(quasi)), key=lambda position: (-values[position], position))
    for name in (quasi[position] for position in order):
        rest = [each for each in left if each != name]
        if rest and alone(rest) == all_alone:
            left = rest
    return [name for name in quasi if name not in left]


def _list(names: Sequence[str]) -> str:
    return f"[{', '.join(map(literal, names))}]"


def tree(con: duckdb.DuckDBPyConnection, file: str, shown: str) -> Told:
    """Return the nodes of a hierarchy below each other, each with how many values it stands for.

    file: where it is; shown: its path in statements. The values themselves are only counted.
    """
    roots: Told = {}
    paths = (
        "SELECT list(label ORDER BY level DESC) AS path, value FROM read_hierarchies($file) "
        "GROUP BY value"
    )
    counted = "SELECT label, count(DISTINCT value) AS n FROM read_hierarchies($file) GROUP BY label"
    parameters = {"file": file}
    counts = {each["label"]: each["n"] for each in rows_of(con, counted, parameters)}
    for each in rows_of(con, f"SELECT DISTINCT path FROM ({paths}) ORDER BY path", parameters):
        stopping.check("studio")
        nodes = roots
        for label in each["path"]:
            if label not in nodes:
                of = f"FROM read_hierarchies({literal(shown)}) WHERE label = {literal(label)}"
                figure = Figure("values", counts[label], f"SELECT count(DISTINCT value) {of}")
                nodes[label] = {"figure": asdict(figure), "below": {}}
            nodes = nodes[label]["below"]
    return roots


def of_release(con: duckdb.DuckDBPyConnection, request: Mapping[str, Any]) -> Told:
    """Return what a release keeps: its measures, the loss by column, and who looks alike."""
    roles = {name: request[name] for name in ("quasi", "hierarchy")}
    options = arguments(roles)
    k = arguments({"k": request["k"]})
    figures = row(con, f"utility({TABLES}{k}{options})", _UTILITY)
    figures += row(con, f"risk({TABLES}{options})", ("prosecutor", "prosecutor_mean"))
    lost = []
    if figures[_UTILITY.index("gcp")].value is not None:
        stopping.check("studio")
        call = f"attribute_loss({TABLES}{options})"
        for each in rows_of(con, f"FROM {call}"):
            sql = f"SELECT ncp FROM {call} WHERE attribute = {literal(each['attribute'])}"
            lost.append(Figure("ncp", each["ncp"], sql, each["attribute"]))
        lost.sort(key=lambda each: -(each.value or 0))
    named = {fold(name): name for name in con.table("raw").columns}
    raw = list(alike(con, "raw", [named[fold(name)] for name in request["quasi"]]))
    released = list(alike(con, "released", request["quasi"]))
    return {
        "figures": list(map(asdict, figures)),
        "loss": list(map(asdict, lost)),
        "alike": [
            {"step": step, "raw": asdict(before), "released": asdict(after)}
            for (step, before), (_, after) in zip(raw, released, strict=True)
        ],
    }


def alike(
    con: duckdb.DuckDBPyConnection, table: str, quasi: Sequence[str]
) -> Iterator[tuple[str, Figure]]:
    """Give the share of rows that look like so many, themselves included, for each of ``STEPS``."""
    by = ", ".join(map(quote, quasi))
    groups = f"FROM (SELECT count(*) AS n FROM {table} GROUP BY {by})"
    shares = [
        f"coalesce(sum(n) FILTER (n >= {low}" + (f" AND n <= {high}" if high else "") + "), 0)"
        " / sum(n)"
        for low, high in STEPS
    ]
    stopping.check("studio")
    (values,) = con.execute(f"SELECT {', '.join(shares)} {groups}").fetchall()
    for (low, high), share, value in zip(STEPS, shares, values, strict=True):
        step = f"{low}" if low == high else f"{low}-{high}" if high else f"{low}+"
        yield step, Figure(f"alike_{table}", value, f"SELECT {share} {groups}", step)


def attacks(con: duckdb.DuckDBPyConnection, request: Mapping[str, Any]) -> list[Told]:
    """Return what four attackers learn of each sensitive column, as figures by column."""
    options = arguments({name: request[name] for name in ("quasi", "hierarchy")})
    known_columns = min(KNOWN, len(request["quasi"]))
    by_column = []
    for name in request["sensitive"]:
        usual = largest(con, "raw", name, []) or 0.0
        of = f"{TABLES}, {literal(name)}"
        calls = {
            "homogeneity": (f"attack_homogeneity({of}{options})", "row_share"),
            "skewness": (
                f"attack_skewness({of}, threshold := {(1 + usual) / 2!r}{options})",
                "row_share",
            ),
            "linking": (f"attack_linking({of}, sample := {SAMPLE}{options})", "disclosed_share"),
            "background": (
                f"attack_background({of}, sample := {SAMPLE}, known := {known_columns}{options})",
                "guessed_share",
            ),
        }
        figures = {
            attack: asdict(row(con, call, (share,), name)[0])
            for attack, (call, share) in calls.items()
        }
        guess = row(con, calls["background"][0], ("baseline",), name)[0]
        by_column.append(
            {"column": name, "known": known_columns, **figures, "baseline": asdict(guess)}
        )
    return by_column


def distributions(con: duckdb.DuckDBPyConnection, request: Mapping[str, Any]) -> list[Told]:
    """Return rows by value of the quasi-identifiers that lost most, before and after.

    Values and ranges of fewer than k rows are left out, and counted.
    """
    roles = {name: request[name] for name in ("quasi", "hierarchy")}
    options = arguments(roles)
    call = f"FROM attribute_loss({TABLES}{options}) WHERE ncp > 0 ORDER BY ncp DESC, attribute"
    columns = [each["attribute"] for each in rows_of(con, f"{call} LIMIT {CHARTS}")]
    named = {fold(name): name for name in con.table("raw").columns}
    charts = []
    for name in (named[fold(each)] for each in columns):
        stopping.check("studio")
        parts = spread.bins(con, "raw", name).bins
        (counted,) = spread.quasi(con, [name], roles)
        shown = []
        for part, raw, released in zip(parts, counted.raw, counted.released, strict=True):
            if raw >= request["k"] and " IN (" not in part.condition:
                sql = f"SELECT count(*) FROM raw WHERE {part.condition}"
                estimate = f"SELECT estimate FROM query_error({TABLES}, [{literal(sql)}]{options})"
                shown.append(
                    {
                        "label": part.label,
                        "raw": asdict(Figure("raw", raw, sql, name)),
                        "released": asdict(Figure("released", released, estimate, name)),
                    }
                )
        charts.append({"column": name, "bins": shown, "hidden": len(parts) - len(shown)})
    return charts


def pairs(
    con: duckdb.DuckDBPyConnection,
    request: Mapping[str, Any],
    offset: int,
    hidden: Sequence[str],
) -> Told:
    """Return raw rows, and for each a released row whose labels cover it and whose rest is its own.

    hidden: columns of the raw table whose values are masked. Released columns come first. The
    released row is None if none covers the raw row, for example if rows are left out.
    """
    raw, released = con.table("raw"), con.table("released")
    kinds = dict(zip(map(fold, raw.columns), map(str, raw.types), strict=True))
    named = {fold(name): name for name in raw.columns}
    masked, labels = set(map(fold, hidden)), set(map(fold, request["quasi"]))
    fits = " AND ".join(
        _covers(con, named[fold(name)], name, kinds[fold(name)], request)
        if fold(name) in labels
        else f"r.{quote(name)} IS NOT DISTINCT FROM f.{quote(named[fold(name)])}"
        for name in released.columns
    )
    there = {fold(name): name for name in released.columns}
    columns = sorted(raw.columns, key=lambda name: fold(name) not in there)
    shown = [
        literal(MASK) if fold(name) in masked else f"f.{quote(name)}::VARCHAR" for name in columns
    ]
    after = [
        f"r.{quote(name)}::VARCHAR" if name else "NULL::VARCHAR"
        for name in (there.get(fold(column)) for column in columns)
    ]
    rows = con.execute(
        "WITH few AS MATERIALIZED (SELECT *, row_number() OVER () AS __anon_row FROM "
        f"(FROM raw LIMIT {PAIRS} OFFSET ?)), kinds AS (SELECT DISTINCT * FROM released) "
        f"SELECT [{', '.join(shown)}], [{', '.join(after)}], r.__anon_there IS NOT NULL FROM few f "
        f"LEFT JOIN (SELECT *, 1 AS __anon_there FROM kinds) r ON {fits} "
        "QUALIFY row_number() OVER (PARTITION BY __anon_row) = 1 ORDER BY __anon_row",
        [offset],
    ).fetchall()
    return {
        "columns": columns,
        "labels": [name for name in columns if fold(name) in labels],
        "released": [name for name in columns if fold(name) in there],
        "rows": [(before, row if is_covered else None) for before, row, is_covered in rows],
        "offset": offset,
    }


def _covers(
    con: duckdb.DuckDBPyConnection, raw: str, released: str, kind: str, request: Mapping[str, Any]
) -> str:
    """Return the SQL of whether a label of a released row covers the value of a raw row."""
    value, label = f"f.{quote(raw)}", f"r.{quote(released)}::VARCHAR"
    same = f"{label} IS NOT DISTINCT FROM {value}::VARCHAR OR {label} = '*'"
    if request["hierarchy"] is not None:
        tree = quote(request["hierarchy"])
        leaves = f"SELECT value, label FROM {tree} WHERE lower(attribute) = lower({literal(raw)})"
        if con.execute(f"SELECT 1 FROM ({leaves}) LIMIT 1").fetchall():
            return f"({same} OR ({value}::VARCHAR, {label}) IN ({leaves}))"
    if kind == "VARCHAR":
        among = f"list_contains(anon_values({label}), {value})"
        written = f"left({label}, 1) IN ('{{', '''')"
        return f"({same} OR CASE WHEN {written} THEN {among} ELSE false END)"
    low, high = (f"TRY_CAST({read}({label}) AS {kind})" for read in ("anon_min", "anon_max"))
    within = f"coalesce({value} BETWEEN {low} AND {high}, false)"
    return f"({same} OR CASE WHEN {label} LIKE '[%' THEN {within} ELSE false END)"


def question(con: duckdb.DuckDBPyConnection, request: Mapping[str, Any], sql: str) -> Told:
    """Return the answers of raw table and release to a question, as figures."""
    options = arguments({name: request[name] for name in ("quasi", "hierarchy")})
    call = f"query_error({TABLES}, [{literal(sql)}]{options})"
    rows = rows_of(con, f"SELECT actual, estimate, relative_error FROM {call}")
    if len(rows) != 1:
        return {"sql": sql, "groups": len(rows), "figures": []}
    names = ("actual", "estimate", "relative_error")
    numbers = [Figure(name, _number(rows[0][name]), f"SELECT {name} FROM {call}") for name in names]
    return {"sql": sql, "groups": 1, "figures": list(map(asdict, numbers))}


def _number(value: Any) -> float | None:
    return value if isinstance(value, (int, float)) else None if value is None else float(value)


def release_statement(recipe: Recipe, relation: str) -> str:
    """Return the call of a recipe's release in SQL. relation: the name of the raw table."""
    accepted = takes(recipe.method)
    parameters = {n: v for n, v in recipe.parameters.items() if n in accepted}
    trees = {"hierarchy": "hierarchy"} if recipe.hierarchies else {}
    roles = {name: names for name, names in recipe.roles.items() if names}
    options = arguments({**parameters, **roles, **trees})
    return f"FROM {recipe.method}({literal(relation)}{options})"
