"""What SDkA's paper counts on a release: four attacks, a random forest and the ILoss.

All are rows of one table, ``figures``: data, name, seed, k, measure, figure.
"""

from anon_sql.core.names import literal, quote

SAMPLE = 5000  # persons that are attacked, where there are more
MAJORITY = "background knowledge, majority"
ATTACKS = {  # the function, what it counts, and more arguments
    "homogeneity": ("attack_homogeneity", "exposed_classes", ""),
    "skewness": ("attack_skewness", "exposed_classes", ", threshold := 0.8"),
    "linking": ("attack_linking", "reidentified", f", sample := {SAMPLE}"),
    "background knowledge": ("attack_background", "guessed", f", sample := {SAMPLE}"),
    MAJORITY: ("attack_background", "100 * guessed_share", ", mode := 'majority'"),
}
PRINTED_ATTACKS = list(ATTACKS)[:4]  # those of table 1
MEASURES = {  # title and digits
    "homogeneity": ("homogeneity, exposed classes", 0),
    "skewness": ("skewness, exposed classes", 0),
    "linking": ("linking, persons re-identified", 0),
    "background knowledge": ("background knowledge of two columns, persons guessed", 0),
    MAJORITY: ("background knowledge, % of the rows guessed by the majority of their class", 2),
    "accuracy": ("accuracy of a random forest", 3),
    "F-measure": ("F-measure of the rarest value of a random forest", 3),
    "ILoss": ("ILoss, sum over all rows of the release", 0),
    "ILoss per row": ("ILoss per row of the release", 3),
}


def prepare(con) -> None:
    con.execute(
        "CREATE TABLE figures (data VARCHAR, name VARCHAR, seed INTEGER, k INTEGER, "
        "measure VARCHAR, figure DOUBLE)"
    )


def assess(con, key: tuple[str, str, int, int], table: str, columns, sensitive: str) -> None:
    """Add all figures of the table ``released``; a forest is trained for the first seed only."""
    roles = f"{columns}, sensitive := {literal(sensitive)}"
    for name, (function, figure, more) in ATTACKS.items():
        call = f"{function}({literal(table)}, 'released', {roles}{more})"
        _add(con, key, {name: figure}, call)
    if key[2] == 1:
        forest = f"classification({literal(table)}, 'released', target := {literal(sensitive)}"
        figures = {"accuracy": "accuracy", "F-measure": "f_measure"}
        _add(con, key, figures, f"{forest}, baseline := 'none', {columns})")
    total = f"sum({_loss(con, table, columns.quasi)})"
    _add(con, key, {"ILoss": total, "ILoss per row": f"{total} / count(*)"}, "released")


def learn_raw(con, data: str, table: str, columns, sensitive: str) -> None:
    """Add the figures of a forest that learns from the raw table; ``released`` is any release."""
    call = (
        f"(FROM classification({literal(table)}, 'released', target := {literal(sensitive)}, "
        f"baseline := 'raw', {columns}) WHERE data = 'raw')"
    )
    figures = {"accuracy": "accuracy", "F-measure": "f_measure"}
    _add(con, (data, "raw table", 1, 0), figures, call)


def _add(con, key, figures: dict[str, str], source: str) -> None:
    for measure, figure in figures.items():
        con.execute(
            f"INSERT INTO figures SELECT ?, ?, ?, ?, ?, {figure} FROM {source}", [*key, measure]
        )


def _loss(con, table: str, quasi) -> str:
    """Return the loss of a row of a release as SQL: like ``iloss``, which refuses added rows."""
    types = dict(con.execute(f"SELECT column_name, column_type FROM (DESCRIBE {table})").fetchall())
    parts = []
    for name in map(quote, quasi):
        if types[name.strip('"')] == "VARCHAR":
            part = f"(len(anon_values({name})) > 1)::INTEGER"
        else:
            whole = f"(SELECT max({name}) - min({name}) FROM {table})"
            part = f"(anon_max({name})::DOUBLE - anon_min({name})::DOUBLE) / {whole}"
        parts.append(f"if({name} IS NULL, 0, coalesce({part}, 1))")
    return " + ".join(parts)


def spreads(con, data: str, measure: str, of: str = "avg(figure)") -> list[tuple]:
    """Return name, k and the mean over the seeds, in the order of measuring."""
    return con.execute(
        f"SELECT name, k, {of} FROM figures WHERE data = ? AND measure = ? GROUP BY ALL "
        "ORDER BY k, min(rowid)",
        [data, measure],
    ).fetchall()


def deviations(con, data: str, measures: list[str]) -> dict[str, float]:
    """Return name → sum over measures of the standard deviation over k, means over the seeds."""
    return dict(
        con.execute(
            "SELECT name, sum(mean) FROM (SELECT name, measure, avg(deviation) AS mean FROM "
            "(SELECT name, measure, seed, coalesce(stddev(figure), 0) AS deviation FROM figures "
            f"WHERE data = ? AND measure IN ({', '.join(map(literal, measures))}) AND k > 0 "
            "GROUP BY ALL) GROUP BY ALL) GROUP BY name ORDER BY min(name)",
            [data],
        ).fetchall()
    )
