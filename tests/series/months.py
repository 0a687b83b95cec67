"""Months of a table whose persons come, leave and change, and series of their releases."""

KEY = "0123456789abcdef"
ROLES = (
    f"quasi := ['age', 'city'], sensitive := 'illness', keep := 'ward', entity := 'person', "
    f"key := '{KEY}'"
)


def make_month(con, first: int, end: int, *, seed: int = 1, changed: int = 0) -> None:
    """Make the table ``people`` of the persons from ``first`` to ``end``; a value of each of the
    persons below ``changed`` is another than before."""
    con.execute(
        f"""
        CREATE OR REPLACE TABLE people AS
        SELECT
            i AS person, (20 + hash(i, {seed}) % 50)::INTEGER AS age,
            ['Accra', 'Bonn', 'Delhi'][1 + (hash(i, {seed} + 1) % 3)::INTEGER] AS city,
            ['flu', 'asthma', 'none', 'gout', 'ulcer'][
                1 + ((hash(i, {seed} + 2) + (i < {changed})::INTEGER) % 5)::INTEGER] AS illness,
            hash(i || 'ward' || {seed}) % 2 = 0 AS ward  -- hash(i, …) has the parity of age
        FROM range({first}, {end}) AS made(i)
        """
    )


def step(con, l: int | None = None, more: str = "") -> None:  # noqa: E741
    """Make the next state, ``anon_series``, of ``people``."""
    tables = [name for (name,) in con.execute("SHOW TABLES").fetchall()]
    state = "'anon_series'" if "anon_series" in tables else "NULL"
    con.execute(
        "CREATE OR REPLACE TABLE anon_series AS "
        f"FROM series_next('people', {state}, l := {l or 'NULL'}, {ROLES}{more})"
    )


def released(k: int = 5, more: str = "", method: str = "anonymize") -> str:
    """Return the call that releases ``people`` in the series."""
    return f"{method}('people', k := {k}, series := 'anon_series', {ROLES}{more})"


def status(con) -> dict:
    """Return the figures of the last release."""
    found = con.execute("FROM series_status('anon_series') ORDER BY release DESC LIMIT 1")
    names = [column[0] for column in found.description]
    return dict(zip(names, found.fetchall()[0], strict=True))
