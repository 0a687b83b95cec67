"""What the SQL functions answer, a line a call: ``python -m tests.answers [--write]``.

A line has the call and a digest of the rows in their order, with a mark for each row, or the text of
the error. The recorded lines, ``answers.txt``, are those of the last change that was meant to alter
an answer. A change of the structure alone must leave them as they are: ``--write`` records them
anew.
"""

import hashlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import duckdb

import anon_sql
from anon_sql import datasets

RECORD = Path(__file__).with_name("answers.txt")
RELEASES = (
    "anonymize basic_mondrian canon datafly dop full_domain k_member mondrian mondrian_cof oka "
    "rayden sdka top_down"
).split()
TABLE = "adult_like"
TABLES = """
CREATE TABLE people AS SELECT (i * 7 % 60 + 20)::INT AS age, 'c' || (i * i % 9) AS city,
    'd' || (i * 13 % 5) AS illness, i % 140 AS person, i AS n FROM range(280) t(i);
CREATE TABLE numbers AS SELECT (i * 7 % 60 + 20)::INT AS age, i * i % 97 + .5 AS pay,
    'd' || (i * 13 % 5) AS illness FROM range(280) t(i);
CREATE TABLE tree AS SELECT 'city' AS attribute, 'c' || i AS value, 1 AS level,
    'g' || (i // 3) AS label FROM range(9) t(i);
CREATE TABLE classed AS SELECT * EXCLUDE (n), n // 7 AS class_id FROM people;
"""
ROLES = "quasi := ['age', 'city'], sensitive := 'illness', keep := 'n', identifiers := 'person'"
NUMBERS = "quasi := ['age', 'pay'], sensitive := 'illness'"
OPTIONS = """
k := 7 | l := 2 | l := 2, l_kind := 'entropy' | l := 2, l_kind := 'recursive', c := 2 | t := 0.3
beta := 2 | delta := 2 | format := 'typed' | format := 'mean' | format := 'median' | format := 'midpoint'
suppressed := 'drop' | seed := 7 | hierarchy := 'tree' | strata := 'city'
weights := MAP {'age': 3.0} | bin_width := MAP {'age': 10} | k := (SELECT 9) | l := 2, t := 0.5, format := 'typed'
k := 0 | k = 7 | l := 0 | l := 1.5 | l_kind := 'x' | c := 0 | t := 2 | beta := 0 | delta := -1
format := 'lable' | suppressed := 'x' | seed := -1 | strata := 'ag' | weights := MAP {'agee': 1.0}
hierarchy := 'people' | kk := 3 | k := NULL | k := 'a' | l := 9 | k := 1000
"""
OWN = {
    "rayden": """alpha := 1.0 | threshold := 1.2 | vantage := 'farthest' | cut := 'median', tries := 3
repair := 'merge' | variant := 'tang' | unrecovered := 'suppress', suppressed := 'drop'
alpha := -1 | vantage := 'x' | tries := 0 | repair := 'x' | variant := 1""",
    "anonymize": """effort := 'fast' | effort := 'best', rounds := 3 | suppression_limit := 0.1
effort := 'x' | rounds := -1 | time_limit := 0 | suppression_limit := 2""",
    "full_domain": "suppression_limit := 0.2 | suppression_limit := 2",
    "sdka": "numbers := 'centre' | numbers := 'x'",
}
MEASURES = """
k_anonymity: | quasi := ['age', 'city'] | quasi := 'nothing'
l_diversity: sensitive := 'illness' | sensitive := 'illness', kind := 'x'
t_closeness: sensitive := 'illness' | sensitive := 'nobody'
beta_likeness: sensitive := 'illness'
delta_disclosure: sensitive := 'illness'
gcp: | hierarchy := 'tree' | weights := MAP {'age': 2.0} | ncp := 'dop' | ncp := 'x'
dm: | quasi := ['age', 'city']
dm_star: |
cavg: k := 5 | k := 0
iloss: | hierarchy := 'tree'
suppression_rate: |
"""
PAIR_TABLES = """
utility: | ncp := 'dop'
value_loss: |
attribute_loss: |
equivalence_classes: |
audit: k := 5 | k := 50 | k := 5, l := 2, t := 0.3 | beta := 1 | delta := 1, l := 2 | beta := 0
attack_linking: |
attack_background: known := 1 | known := 0
attack_homogeneity: |
attack_inference: | sure := 0.5 | within := 2
attack_downcoding: | id := 'n'
attack_skewness: |
attack_minimality: runs := 5 | runs := 0
risk: | threshold := 0.1 | threshold := 2
"""


def calls() -> Iterator[str]:
    """Yield the statements."""
    for name in RELEASES:
        for option in ["", *_options(OPTIONS), *_options(OWN.get(name, ""))]:
            for table, roles in (("people", ROLES), ("numbers", NUMBERS)):
                if table == "people" or option in ("", "format := 'mean'", "l := 2"):
                    yield f"FROM {name}('{table}', {_joined(roles, option)})"
        persons = ROLES.replace("identifiers", "entity")
        yield f"FROM {name}('people', {persons})"
        yield f"FROM {name}('people', {persons}, l := 2)"
        yield f"FROM {name}('people', 6, ['age', 'city'], 'illness', 'person', 'n')"
        yield f"FROM {name}('people')"
    yield from (
        "SELECT * EXCLUDE (seconds) FROM compare('people', methods := ['anonymize', 'mondrian', 'oka'], ks := [5, 10], "
        f"{ROLES})",
        f"SELECT * EXCLUDE (seconds) FROM tradeoff('people', method := 'mondrian', ks := [5, 10], {ROLES})",
        "FROM lattice('people', k := 5, quasi := ['age', 'city'], keep := ['*'])",
        f"FROM anonymize_stats('people', k := 5, {ROLES})",
        f"FROM rayden_stats('people', k := 5, {ROLES})",
        f"FROM dop_stats('people', k := 5, {ROLES})",
        f"FROM mondrian_cof_stats('people', k := 5, {ROLES})",
        f"FROM sdka_stats('people', k := 5, {ROLES})",
        "FROM mondrian_partition('people', k := 5, quasi := ['age', 'city'])",
        "FROM vp_partition('people', k := 5, quasi := ['age', 'city'])",
        "FROM cof_score('classed', k := 5, quasi := ['age', 'city'], classes := 'class_id')",
        "FROM generalize('classed', quasi := ['age', 'city'], keep := ['*'], classes := 'class_id')",
        "FROM suggest_roles('people')",
        "FROM safe_harbor('people', as_of := DATE '2026-11-28')",
        "FROM unique_combinations('people')",
        "FROM anon_roles('people')",
        "FROM anon_methods()",
        "FROM data_quality('people')",
        "FROM imbalance('people', sensitive := 'illness')",
        "SELECT gower_ranges('people', quasi := ['age', 'city'])",
        f"FROM anonymize('{TABLE}', k := 10) SELECT * LIMIT 1000",
        "SELECT function_name, parameters FROM duckdb_functions() WHERE function_type LIKE "
        "'%macro' AND NOT internal AND function_name NOT LIKE '\\_\\_%' ESCAPE '\\' ORDER BY ALL",
    )
    for release in ("people_released", "people_typed"):
        for line in filter(None, MEASURES.split("\n")):
            name, _, options = line.partition(":")
            for option in dict.fromkeys(_options(options)):
                call = _joined(f"{name}('people', '{release}'", _with_roles(name, option))
                yield f"SELECT {call})"
        for line in filter(None, PAIR_TABLES.split("\n")):
            name, _, options = line.partition(":")
            for option in dict.fromkeys(_options(options)):
                call = _joined(f"{name}('people', '{release}'", _with_roles(name, option))
                order = " ORDER BY ALL" * (name == "equivalence_classes")  # which promises none
                yield f"FROM {call}){order}"


def _options(text: str) -> list[str]:
    """Return the options of a text, which are divided by bars and ends of lines."""
    return [option.strip() for option in text.replace("\n", "|").split("|")] if text else []


def _joined(*parts: str) -> str:
    return ", ".join(filter(None, parts))


def _with_roles(name: str, option: str) -> str:
    """Return an option with the roles that the measure needs besides."""
    given = [option]
    if "quasi" not in option:
        given.append("quasi := ['age', 'city']")
    of_values = "attack" in name and name != "attack_downcoding"
    if "sensitive" not in option and (of_values or name in ("audit", "utility")):
        given.append("sensitive := 'illness'")
    return _joined(*given)


@dataclass(frozen=True)
class Answer:
    """What a call answered: a line for the record, and its rows, none for an error."""

    call: str
    rows: list[Any]
    line: str

    def differs_from(self, recorded: str) -> str:
        """Return the call and the first row whose mark differs from the recorded one."""
        marks, before = (line.rpartition(" ")[2] for line in (self.line, recorded))
        pairs = enumerate(zip_longest(marks, before))
        at = next((at for at, (one, other) in pairs if one != other), None)
        if not self.rows or at is None or " rows " not in recorded:
            return f"{self.line}\n  recorded: {recorded.rpartition(' -> ')[2]}"
        row = self.rows[at] if at < len(self.rows) else f"missing, of {len(before):,} recorded"
        return f"{self.call}\n  row {at}: {row}"


def answers() -> Iterator[Answer]:
    """Yield the answer to each call."""
    con = anon_sql.connect()
    con.execute(TABLES)
    datasets.adult(con, 2000, table=TABLE, roles=False)
    for name, form in (("people_released", "label"), ("people_typed", "typed")):
        con.execute(f"CREATE TABLE {name} AS FROM anonymize('people', {ROLES}, format := '{form}')")
    for call in dict.fromkeys(calls()):
        yield answer(con, call)


def answer(con: duckdb.DuckDBPyConnection, call: str) -> Answer:
    """Return a digest of the rows of a call and their marks, or the text of its error."""
    try:
        rows = [_rounded(row) for row in con.execute(call).fetchall()]
    except duckdb.Error as error:
        text = " ".join(str(error).split("\n\n")[0].split()).rpartition("AnonError: ")[2]
        return Answer(call, [], f"{call} -> error {text.partition('Candidate')[0]}")
    marks = "".join(_digest(row)[0] for row in rows)
    return Answer(call, rows, f"{call} -> {len(rows)} rows {_digest(rows)[:12]} {marks}".rstrip())


def _digest(value: Any) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()


def _rounded(value: Any) -> Any:
    """Return a value with its numbers at nine digits, which every processor computes alike."""
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    return value


if __name__ == "__main__":
    found = [answer.line for answer in answers()]
    if "--write" in sys.argv:
        RECORD.write_text("\n".join([f"duckdb {duckdb.__version__}", *found]) + "\n", "utf-8")
    else:
        sys.stdout.write("\n".join(found) + "\n")
