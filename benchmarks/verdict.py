"""The figures that a verdict judges, on releases of real tables: how its limits were chosen.

    python benchmarks/verdict.py [table …]

Reads ../shared/data: Adult, Bank, Diabetes, BRFSS, Student, heart, and the people and visits of a
generated hospital. Of a large table 30,000 rows are taken, by hash. Prints a row a release, in the
form of docs/measurements/verdict.md: its levels, the worst figure of all sensitive columns for each
way of inference, with ``near`` at three distances, and the loss; and what the same groups disclose
by chance, with sensitive values shuffled.
"""

import importlib.util
import sys
import time
from pathlib import Path
from typing import Any

import duckdb

import anon_sql
from anon_sql.apps.verdict.figures import measure
from anon_sql.apps.verdict.rules import AMBER, RED, verdict
from anon_sql.hosts.duckdb.errors import own_error_text

DATA = Path(__file__).absolute().parents[2] / "shared" / "data"
MOST = 30_000
PERSON = (
    "(SELECT p.*, coalesce(sum(v.days), 0)::INTEGER AS days, count(v.visit_id) AS visits, "
    "coalesce(mode(v.ward ORDER BY v.visit_id), 'none') AS ward FROM person AS p "
    "LEFT JOIN visit AS v USING (person_id) GROUP BY ALL)"
)
VISIT = (
    "(SELECT p.birth, p.sex, p.zip, v.visited, v.ward, v.days FROM visit AS v "
    "JOIN person AS p USING (person_id))"
)
TABLES: dict[str, tuple[str, list[str], list[str]]] = {
    "Adult": (
        f"'{DATA}/adult.parquet'",
        "age workclass education_num marital_status occupation race sex native_country".split(),
        ["income", "hours_per_week"],
    ),
    "Bank": (
        f"'{DATA}/bank_full.parquet'",
        "age job marital education housing loan".split(),
        ["balance", "default"],
    ),
    "Diabetes": (
        f"'{DATA}/diabetes.parquet'",
        "race gender age admission_type_id time_in_hospital num_medications".split(),
        ["readmitted", "diag_1", "num_lab_procedures"],
    ),
    "BRFSS": (
        f"'{DATA}/brfss2015.parquet'",
        "Sex Age Education Income BMI".split(),
        ["Diabetes_binary", "MentHlth"],
    ),
    "Student": (
        f"'{DATA}/student_por.parquet'",
        "school sex age address famsize Mjob Fjob".split(),
        ["G3", "Walc"],
    ),
    "heart": (f"'{DATA}/heart_cleveland.parquet'", "age sex cp".split(), ["target", "chol"]),
    "people": (PERSON, "birth sex zip insurer".split(), ["ward", "days"]),
    "visits": (VISIT, "birth sex zip visited".split(), ["ward", "days"]),
}
RELEASES = [
    {"k": 10},
    {"k": 10, "l": 2},
    {"k": 10, "l": 4},
    {"k": 10, "l": 2, "t": 0.3},
    {"k": 10, "l": 2, "t": 0.2},
    {"k": 100},
]
WITHIN = (0.02, 0.05, 0.1)


def hospital(con: duckdb.DuckDBPyConnection) -> None:
    """Make the tables person, visit and diagnosis."""
    spec = importlib.util.spec_from_file_location("hospital", DATA / "hospital.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.make(con)


def row_of(con: duckdb.DuckDBPyConnection, name: str, asked: dict[str, Any]) -> str:
    _, quasi, sensitive = TABLES[name]
    call = {**asked, "quasi": quasi, "sensitive": sensitive, "effort": "fast", "suppressed": "keep"}
    started = time.perf_counter()
    listed = ", ".join(f"{key} := ${key}" for key in call)
    words = ", ".join(f"{key} = {value}" for key, value in asked.items())
    try:
        con.execute(f"CREATE OR REPLACE TABLE released AS FROM anonymize('raw', {listed})", call)
    except duckdb.Error as error:
        said = own_error_text(error) or "DuckDB refuses it"
        return f"| {name} | {words} |{' |' * 9} cannot be made: {said} |"
    request = {
        **dict.fromkeys(("l", "t", "beta", "delta", "max_share", "l_kind", "hierarchy")),
        **{key: value for key, value in call.items() if key not in ("effort", "suppressed")},
        "identifiers": [],
        "keep": [],
    }
    audit = {key: value for key, value in request.items() if value is not None}
    given = ", ".join(f"{key} := ${key}" for key in audit)
    result = con.execute(f"FROM audit('raw', 'released', {given})", audit)
    names = [column[0] for column in result.description]
    checks = [dict(zip(names, each, strict=True)) for each in result.fetchall()]
    measured = measure(con, request, checks)
    found = verdict(measured)
    worst: dict[str, float] = {}
    for figure in measured.figures:
        if figure.value is not None and figure.name != "even_values":
            worst[figure.name] = max(figure.value, worst.get(figure.name, 0.0))
    near = []
    for within in WITHIN:
        ((share,),) = con.execute(
            "SELECT max(near_share) FROM attack_inference('raw', 'released', $s, quasi := $q, "
            "within := $w)",
            {"s": sensitive, "q": quasi, "w": within},
        ).fetchall()
        near.append("-" if share is None else f"{share:.1%}")
    rules = {
        level: list(dict.fromkeys(each.rule for each in found.reasons if each.level == level))
        for level in (RED, AMBER)
    }
    shares = [f"{worst.get(way, 0.0):.1%}" for way in ("certain", "inferred", "lifted")]
    loss = [f"{worst.get(way, 0.0):.2f}" for way in ("gcp", "query_error", "columns")]
    because = "; ".join(f"{level}: {', '.join(names)}" for level, names in rules.items() if names)
    print(f"{name} {words}: {time.perf_counter() - started:.0f} s", file=sys.stderr)
    return f"| {name} | {words} | {' | '.join([*shares, *near, *loss])} | {because or 'green'} |"


def by_chance(con: duckdb.DuckDBPyConnection, name: str) -> str:
    """Return a row of a release with k = 10 whose sensitive values are shuffled between rows."""
    _, quasi, sensitive = TABLES[name]
    given = {"q": quasi, "s": sensitive}
    con.execute(
        "CREATE OR REPLACE TABLE released AS FROM anonymize('raw', k := 10, quasi := $q, "
        "sensitive := $s, effort := 'fast')",
        given,
    )
    known, hidden = (", ".join(f'"{each}"' for each in names) for names in (quasi, sensitive))
    con.execute(
        f"CREATE TABLE shuffled AS FROM (SELECT {known} FROM released ORDER BY ALL) POSITIONAL JOIN "
        f"(SELECT {hidden} FROM (SELECT *, hash(row_number() OVER ()) AS h FROM released) ORDER BY h)"
    )
    worst = con.execute(
        "SELECT max(certain_share), max(inferred_share), max(lifted_share) "
        "FROM attack_inference('raw', 'shuffled', $s, quasi := $q)",
        given,
    ).fetchall()[0]
    near = []
    for within in WITHIN:
        ((share,),) = con.execute(
            "SELECT max(near_share) FROM attack_inference('raw', 'shuffled', $s, quasi := $q, "
            "within := $w)",
            {**given, "w": within},
        ).fetchall()
        near.append("-" if share is None else f"{share:.1%}")
    shares = [f"{share:.1%}" for share in worst]
    return (
        f"| {name} | k = 10, values shuffled | {' | '.join([*shares, *near])} | | | | by chance |"
    )


if __name__ == "__main__":
    print("| table | release | certain | inferred | lifted |", end="")
    print("".join(f" near {within:g} |" for within in WITHIN), end="")
    print(" gcp | query error | columns | verdict |\n|" + "---|" * 12)
    for chosen in sys.argv[1:] or TABLES:
        with anon_sql.connect() as con:
            source, columns, hidden = TABLES[chosen]
            if source.startswith("("):
                hospital(con)
            taken = ", ".join(f'"{column}"' for column in [*columns, *hidden])
            con.execute(
                f"CREATE TABLE raw AS SELECT {taken} FROM (SELECT *, hash(t) AS h "
                f"FROM {source} AS t) ORDER BY h LIMIT {MOST}"
            )
            for asked in RELEASES:
                print(row_of(con, chosen, asked), flush=True)
            print(by_chance(con, chosen), flush=True)
