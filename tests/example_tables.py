"""The tables that the examples of headers and pages name."""

from pathlib import Path

from anon_sql.apps.cli import compile

PEOPLE = f"""
    {compile.PEOPLE}
    CREATE TABLE births AS SELECT DATE '1990-01-01' + (i * 400)::INTEGER AS born FROM range(9) AS r(i);
    CREATE TABLE people_hierarchy AS
    FROM numeric_hierarchy('people', 'age', widths := [10, 20])
    UNION ALL FROM read_hierarchies('hierarchies/*.csv');
"""
TABLES = f"""
    {PEOPLE}
    CREATE TABLE release AS
    FROM rayden('people', k := 5, qids := ['age', 'city'], sensitive := ['illness']);
    CREATE TABLE classed AS FROM vp_partition('people', k := 5, qids := ['age', 'city']);
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
        'persons', l := 2, qids := ['age', 'city'], sensitive := 'illness', entity := 'person',
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


def write_files(folder: Path) -> None:
    """Write the hierarchies that the tables are made of."""
    (folder / "hierarchies").mkdir()
    for name, text in FILES.items():
        (folder / "hierarchies" / name).write_text(text)
