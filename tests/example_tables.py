"""The tables that the examples of headers and pages name."""

from pathlib import Path

import duckdb

from anon_sql.apps.cli import compile
from anon_sql.hosts import recipe_source, recipes

PEOPLE = f"""
    {compile.PEOPLE}
    CREATE TABLE births AS SELECT DATE '1990-01-01' + (i * 400)::INTEGER AS born FROM range(9) AS r(i);
    CREATE TABLE people_hierarchy AS
    FROM numeric_hierarchy('people', 'age', widths := [10, 20])
    UNION ALL FROM read_hierarchies('hierarchies/*.csv');
"""
PLAN = """
    CREATE TABLE people_plan AS FROM linked_plan(
        'people', k := 2, quasi := ['people.age', 'people.city'], keep := 'people.illness');
"""
TABLES = f"""
    {PEOPLE}
    CREATE TABLE release AS
    FROM rayden('people', k := 5, quasi := ['age', 'city'], sensitive := ['illness']);
    CREATE TABLE classed AS FROM vp_partition('people', k := 5, quasi := ['age', 'city']);
    {PLAN}
"""
LEDGER = """
    CREATE TABLE anon_ledger AS
    WITH early AS (FROM people WHERE city <> 'Delhi')
    FROM ledger_entry(
        'early', 'release', 'May', entity := 'city', manifest := '{}', key := '0123456789abcdef')
"""
SERIES = """
    CREATE TABLE persons AS SELECT row_number() OVER () AS person, * FROM people;
    CREATE TABLE anon_series AS FROM series_next(
        'persons', l := 2, quasi := ['age', 'city'], sensitive := 'illness', entity := 'person',
        key := '0123456789abcdef')
"""
FILES = {
    "city.csv": """\
Accra;Ghana;Africa;*
Bonn;Germany;Europe;*
Cape Town;South Africa;Africa;*
Delhi;India;Asia;*
"""
}


def write_recipe(folder: Path) -> None:
    """Write people.parquet and a recipe for it."""
    with duckdb.connect() as con:
        con.execute(compile.PEOPLE)
        people = con.table("people")
        people.write_parquet(str(folder / "people.parquet"))
        types = dict(zip(people.columns, map(str, people.types), strict=True))
    recipes.write(
        folder / "recipe.toml",
        {"file": "people.parquet", "schema_sha256": recipe_source.schema_sha256(types)},
        {"quasi": ["age", "city"], "sensitive": ["illness"]},
        release={"k": 5},
        statement={"environment": "contract"},
        made={},
    )


def write_files(folder: Path) -> None:
    """Write the hierarchies that the tables are made of, and a recipe."""
    write_recipe(folder)
    (folder / "hierarchies").mkdir()
    for name, text in FILES.items():
        (folder / "hierarchies" / name).write_text(text)
