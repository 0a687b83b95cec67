"""Inference and linkage beside Anonymeter 1.1.0, on one release with means and one with labels.

    python benchmarks/beside_anonymeter.py make FOLDER     # where anon_sql is installed
    python benchmarks/beside_anonymeter.py attack FOLDER   # where anonymeter==1.1.0 is, which needs numpy 1

Anonymeter reads numbers, so it attacks a release with ``format := 'mean'``; here the labels of the
same classes are attacked. Both have the same people, control, quasi-identifiers and secret.
"""

import sys
from pathlib import Path

QUASI = ["age", "education_num", "hours"]
CALL = "'people', k := {k}, quasi := {quasi}, keep := ['occupation'], exclude := '*'"
KS = (2, 10)


def make(folder: Path) -> None:
    """Write the tables, and print the rates of anon_sql."""
    import anon_sql
    from anon_sql import datasets

    con = anon_sql.connect()
    con.execute("SET enable_progress_bar = false")
    datasets.adult(con, 8000, table="everybody", seed=3, roles=False)
    hours = "(20 + (age + education_num * 3 + hash(rowid) % 25) % 50)::INTEGER AS hours"
    con.execute(f"CREATE TABLE with_hours AS SELECT *, {hours} FROM everybody")
    con.execute("CREATE TABLE control AS FROM with_hours LIMIT 4000")
    con.execute("CREATE TABLE people AS FROM with_hours OFFSET 4000")
    for name in ("people", "control"):
        con.sql(f"SELECT {', '.join(QUASI)}, occupation FROM {name}").write_parquet(
            str(folder / f"{name}.parquet")
        )
    for k in KS:
        call = CALL.format(k=k, quasi=QUASI)
        con.execute(f"CREATE OR REPLACE TABLE safe AS FROM mondrian({call})")
        con.sql(f"FROM mondrian({call}, format := 'mean')").write_parquet(
            str(folder / f"means_{k}.parquet")
        )
        given = f"'people', 'safe', control := 'control', quasi := {QUASI}"
        for attack in (
            f"linkage({given}, known := 'age')",
            f"inference({given}, secret := 'occupation')",
        ):
            row = con.execute(
                f"SELECT rate, control_rate, gain, low, high FROM {attack}"
            ).fetchone()
            print(k, attack.partition("(")[0], *(f"{value:.3f}" for value in row))


def attack(folder: Path) -> None:
    """Print the rates of Anonymeter."""
    import pandas as pd
    from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator

    people, control = (
        pd.read_parquet(folder / f"{name}.parquet") for name in ("people", "control")
    )
    for k in KS:
        released = pd.read_parquet(folder / f"means_{k}.parquet")[people.columns]
        attacks = {
            "linkage": LinkabilityEvaluator(
                people, released, n_attacks=2000, n_neighbors=1, control=control,
                aux_cols=(["age"], ["education_num", "hours"]),
            ),
            "inference": InferenceEvaluator(
                people, released, aux_cols=QUASI, secret="occupation", n_attacks=2000, control=control
            ),
        }  # fmt: skip
        for name, evaluator in attacks.items():
            found, risk = evaluator.evaluate(n_jobs=1).results(), evaluator.risk()
            rates = (found.attack_rate.value, found.control_rate.value, risk.value, *risk.ci)
            print(k, name, *(f"{value:.3f}" for value in rates))


if __name__ == "__main__":
    {"make": make, "attack": attack}[sys.argv[1]](Path(sys.argv[2]))
