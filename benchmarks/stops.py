"""How long each function works between two looks at whether it is to stop.

    python benchmarks/stops.py [--rows 300000] [--seconds 10] [--where] [FUNCTION …]

Calls every function that reads a table on an Adult-like table and its release, after a run of each
on a hundredth of the rows that loads the kernels. A call that takes longer than ``--seconds`` is
stopped by ``anon_sql.interrupt``. A row a function: the longest time that one thread worked without a look at the token of its call, in seconds of that thread's CPU and on the
clock, the number of looks, and the seconds of the call, followed by those from the stop to its end.
``--where`` prints the lines of the two looks around the longest.
"""

import argparse
import sys
import threading
import time
from dataclasses import dataclass
from typing import Any

import duckdb

import anon_sql
from anon_sql import datasets
from anon_sql.core import stopping

QUASI = ["age", "education_num", "marital_status", "occupation", "sex"]
ROLES = f"quasi := {QUASI}, sensitive := 'income', keep := ['*']"
TREE = f"{ROLES}, hierarchy := 'tree'"
PAIR = f"'t', 'r', quasi := {QUASI}"
SECRET = f"{PAIR}, sensitive := 'income'"
KEYED = "entity := 'person', key := '0123456789abcdef'"
MANY = "quasi := ['a', 'b', 'c'], keep := 'd', identifiers := 'e'"
QUERIES = "(SELECT list(query) FROM query_workload('t', n := 20, quasi := ['age', 'occupation']))"
CALLS = {
    **{
        name: f"FROM {name}('t', k := 10, {ROLES})"
        for name in ("anonymize", "dop", "k_member", "mondrian", "mondrian_cof", "oka", "rayden")
    },
    "top_down": f"FROM top_down('t', k := 10, {ROLES})",
    "sdka": f"FROM sdka('t', k := 10, {ROLES}, generator := 'bootstrap')",
    "canon": "FROM canon('t', k := 10, quasi := ['age', 'education_num'], keep := ['*'])",
    **{
        name: f"FROM {name}('t', k := 10, {TREE})"
        for name in ("basic_mondrian", "datafly", "full_domain")
    },
    "rayden of many values": f"FROM rayden('persons', k := 10, {MANY})",
    "anonymize of many values": f"FROM anonymize('persons', k := 10, {MANY})",
    "mondrian of many values": f"FROM mondrian('persons', k := 10, {MANY})",
    "audit of many values": "FROM audit('persons', 'persons_r', 10, quasi := ['a', 'b', 'c'])",
    "gcp of many values": "SELECT gcp('persons', 'persons_r', quasi := ['a', 'b', 'c'])",
    "anonymize, mean": f"FROM anonymize('t', k := 10, {ROLES}, format := 'mean')",
    "anonymize_stats": f"FROM anonymize_stats('t', k := 10, {ROLES})",
    "rayden_stats": f"FROM rayden_stats('t', k := 10, {ROLES})",
    "dop_stats": f"FROM dop_stats('t', k := 10, {ROLES})",
    "mondrian_cof_stats": f"FROM mondrian_cof_stats('t', k := 10, {ROLES})",
    "sdka_stats": f"FROM sdka_stats('t', k := 10, {ROLES}, generator := 'bootstrap')",
    "mondrian_partition": f"FROM mondrian_partition('t', k := 10, quasi := {QUASI})",
    "vp_partition": f"FROM vp_partition('t', k := 10, quasi := {QUASI})",
    "cof_score": f"FROM cof_score('classed', k := 10, quasi := {QUASI})",
    "generalize": f"FROM generalize('classed', k := 10, quasi := {QUASI}, keep := ['*'])",
    "lattice": f"FROM lattice('t', k := 10, {TREE})",
    "compare": f"FROM compare('t', methods := ['mondrian', 'rayden'], ks := [10], {ROLES})",
    "tradeoff": f"FROM tradeoff('t', method := 'mondrian', ks := [10], {ROLES})",
    "data_quality": "FROM data_quality('t')",
    "imbalance": "FROM imbalance('t', 'income')",
    "audit": f"FROM audit({PAIR}, k := 10, sensitive := 'income')",
    "audit of persons": "FROM audit('t', 'r', k := 10, entity := 'person', "
    f"quasi := {QUASI}, sensitive := 'income')",
    "risk": f"FROM risk({PAIR}, sampling_fraction := 0.01)",
    "anon_manifest": f"FROM anon_manifest('t', 'r', 'mondrian', k := 10, {ROLES})",
    **{
        name: f"SELECT {name}({PAIR})"
        for name in ("dm", "dm_star", "gcp", "iloss", "k_anonymity", "suppression_rate")
    },
    **{
        name: f"SELECT {name}({SECRET})"
        for name in ("beta_likeness", "delta_disclosure", "l_diversity", "max_share", "t_closeness")
    },
    **{name: f"FROM {name}({PAIR})" for name in ("attribute_loss", "equivalence_classes")},
    "cavg": f"SELECT cavg({PAIR}, k := 10)",
    "utility": f"FROM utility({PAIR}, k := 10)",
    "value_loss": f"FROM value_loss('t', 'means', quasi := {QUASI})",
    **{
        f"classification, {model}": f"FROM classification({PAIR}, target := 'income', "
        f"model := '{model}')"
        for model in ("random_forest", "knn", "svm", "naive_bayes")
    },
    "query_workload": "FROM query_workload('t', n := 1000, quasi := ['age', 'occupation'])",
    "query_workload of many values": "FROM query_workload('persons', n := 100, "
    "quasi := ['a', 'b', 'c'])",
    "query_error": f"FROM query_error('t', 'r', getvariable('queries'), quasi := {QUASI})",
    "workload_error": f"FROM workload_error('t', 'r', getvariable('queries'), quasi := {QUASI})",
    "rewrite_query": f"SELECT rewrite_query('SELECT count(*) FROM raw WHERE age > 40', {PAIR})",
    "attack_linking": f"FROM attack_linking({SECRET})",
    "attack_background": f"FROM attack_background({SECRET}, known := 3)",
    "attack_homogeneity": f"FROM attack_homogeneity({SECRET})",
    "attack_inference": f"FROM attack_inference({SECRET})",
    "attack_minimality": "FROM attack_minimality('t', 'r', method := 'mondrian', "
    f"k := 10, {ROLES}, identifiers := 'person')",
    "attack_downcoding": f"FROM attack_downcoding({PAIR})",
    "attack_skewness": f"FROM attack_skewness({SECRET})",
    "composition": f"FROM composition('t', ['r', 's'], quasi := {QUASI}, sensitive := 'income')",
    "composition of many values": "FROM composition('persons', ['persons_r', 'persons_s'], "
    "quasi := ['a', 'b', 'c'], sensitive := 'd')",
    "suggest_roles": "FROM suggest_roles('t')",
    "unique_combinations": "FROM unique_combinations('t')",
    "anon_roles": "FROM anon_roles('t')",
    "gower_ranges": f"SELECT gower_ranges('t', {QUASI})",
    "numeric_hierarchy": "FROM numeric_hierarchy('persons', 'a', widths := [10, 20])",
    "date_hierarchy": "FROM date_hierarchy('days', 'day', ['month', 'year'])",
    "prefix_hierarchy": "FROM prefix_hierarchy('persons', 'e', [2, 1])",
    "check_hierarchy": "FROM check_hierarchy('persons', 'persons_tree')",
    "ledger_entry": f"FROM ledger_entry('t', 'r', 'May', manifest := '{{}}', {KEYED})",
    "ledger_new": f"FROM ledger_new('t', 'ledger', {KEYED})",
    "ledger_overlap": f"FROM ledger_overlap('t', 'ledger', {KEYED})",
    "anon_pseudonym": "SELECT anon_pseudonym(e, '0123456789abcdef') FROM persons",
    "anon_mask": "SELECT anon_mask(e) FROM persons",
    "anon_shift": "SELECT anon_shift(day, 'Ada', '0123456789abcdef') FROM days",
    "anon_min": "SELECT anon_min(a) FROM persons_r",
    "anon_values": "SELECT anon_values(occupation) FROM r",
}
WHOLE = """
CREATE TABLE t AS SELECT row_number() OVER () AS person, * FROM adult;
CREATE TABLE tree AS FROM numeric_hierarchy('t', 'age', widths := [5, 10, 20]) UNION ALL
FROM numeric_hierarchy('t', 'education_num', widths := [4, 8]) UNION ALL
SELECT name, value, 1, '*' FROM (
    UNPIVOT (FROM t SELECT marital_status, occupation, sex) ON COLUMNS(*) INTO NAME name VALUE value
) GROUP BY ALL;
CREATE TABLE persons AS
SELECT hash(i) % 100000 AS a, hash(i, 1) % 30000 / 7 AS b, i AS c,
    'ill ' || hash(i, 2) % 20 AS d, 'x' || i AS e FROM range({rows}) made(i);
CREATE TABLE days AS SELECT DATE '1900-01-01' + (i % 40000)::INTEGER AS day FROM range({rows}) made(i);
CREATE TABLE r AS FROM mondrian('t', k := 10, {roles}, identifiers := 'person');
CREATE TABLE s AS FROM mondrian('t', k := 7, {roles}, identifiers := 'person');
CREATE TABLE means AS
FROM mondrian('t', k := 10, {roles}, identifiers := 'person', format := 'mean');
CREATE TABLE classed AS FROM vp_partition('t', k := 10, quasi := {quasi});
CREATE TABLE persons_r AS FROM mondrian('persons', k := 10, {many});
CREATE TABLE persons_s AS FROM mondrian('persons', k := 7, {many});
CREATE TABLE persons_tree AS FROM numeric_hierarchy('persons', 'a', widths := [10, 100, 1000]);
CREATE TABLE ledger AS FROM ledger_entry('t', 'r', 'May', manifest := '{{}}', {keyed});
"""


@dataclass
class Step:
    """The longest time without a look."""

    cpu: float = 0.0
    clock: float = 0.0
    looks: int = 0
    between: str = ""


class Looks:
    """Notes when threads look at the tokens of their calls."""

    def __init__(self) -> None:
        self.longest = Step()
        self._last: dict[int, tuple[float, float, str]] = {}
        requested, carry = stopping.Stop.requested.fget, stopping.carry
        assert requested is not None

        def noted(stop: stopping.Stop) -> bool:
            self._look()
            return bool(requested(stop))

        def carried(stop: stopping.Stop | None) -> None:
            self._look(leaves=stop is None)
            carry(stop)

        stopping.Stop.requested = property(noted)  # type: ignore[assignment]
        stopping.carry = carried

    def _look(self, *, leaves: bool = False) -> None:
        here, step = threading.get_ident(), self.longest
        cpu, clock, place = time.thread_time(), time.perf_counter(), _place()
        if here in self._last:
            before, then, there = self._last[here]
            step.looks += 1
            step.clock = max(step.clock, clock - then)
            if cpu - before > step.cpu:
                step.cpu, step.between = cpu - before, f"{there} -> {place}"
        if leaves:
            self._last.pop(here, None)
        else:
            self._last[here] = cpu, clock, place


def _place() -> str:
    """Return the file and line that look, above this file and ``stopping``."""
    frame: Any = sys._getframe(2)
    while frame.f_back and frame.f_code.co_filename in (__file__, stopping.__file__):
        frame = frame.f_back
    found = []
    while frame and "anon_sql" in frame.f_code.co_filename and len(found) < 3:
        found.append(f"{frame.f_code.co_filename.rpartition('anon_sql/')[2]}:{frame.f_lineno}")
        frame = frame.f_back
    return " < ".join(found)


def opened(rows: int) -> duckdb.DuckDBPyConnection:
    """Open a database with the tables of ``CALLS``."""
    con = anon_sql.connect()
    con.execute("SET enable_progress_bar = false")
    datasets.adult(con, rows, seed=42, roles=False)
    con.execute(WHOLE.format(rows=rows, roles=ROLES, many=MANY, quasi=QUASI, keyed=KEYED))
    con.execute(f"SET VARIABLE queries = {QUERIES}")
    return con


def timed(con: duckdb.DuckDBPyConnection, statement: str, seconds: float) -> tuple[float, float]:
    """Return the seconds of a statement, and those after it was stopped; 0 where it was not."""
    stopped: list[float] = []

    def stop() -> None:
        stopped.append(time.perf_counter())
        anon_sql.interrupt(con)

    timer = threading.Timer(seconds, stop)
    began = time.perf_counter()
    timer.start()
    try:
        con.execute(statement).fetchall()
    except duckdb.Error as error:
        if not stopped:
            raise RuntimeError(statement) from error
    finally:
        timer.cancel()
        timer.join()
    ended = time.perf_counter()
    return ended - began, ended - stopped[0] if stopped else 0.0


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("functions", nargs="*", default=list(CALLS), metavar="FUNCTION")
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--where", action="store_true")
    call = parser.parse_args()
    with opened(call.rows // 100) as small:
        for name in call.functions:
            timed(small, CALLS[name], call.seconds)
    with opened(call.rows) as con:
        looks = Looks()
        print("function                           cpu   clock   looks    call  after the stop")
        for name in call.functions:
            step = looks.longest = Step()
            whole, after = timed(con, CALLS[name], call.seconds)
            print(f"{name:30}{step.cpu:8.3f}{step.clock:8.3f}{step.looks:8}{whole:8.2f}", end="")
            print(f"{after:8.2f}" if after else "", flush=True)
            if call.where:
                print(f"    {step.between}")


if __name__ == "__main__":
    main()
