"""Run the commands that begin with a backslash, as ``\\h rayden``."""

from collections.abc import Callable

import duckdb

from anon_sql.apps import console
from anon_sql.core.names import literal
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb import headers
from anon_sql.hosts.duckdb.macros import sql_files

Draw = Callable[[duckdb.DuckDBPyRelation, int], None]
_ALL = 1_000  # rows: a list of functions or tables is shown whole
HELP = """\
  \\h            the functions
  \\h FUNCTION   what a function does, its parameters, errors, an example
  \\d            the tables
  \\d TABLE      the columns of a table and their roles
  \\q            leave, as Ctrl-D does
  \\?            this list
SQL ends with a semicolon. Tab completes, Ctrl-C stops a statement, Ctrl-R looks for an earlier
one."""
_TABLES = """\
SELECT table_name AS name, table_schema AS schema, table_catalog AS database,
    if(table_type = 'VIEW', 'view', 'table') AS kind
FROM information_schema.tables ORDER BY ALL"""


def run(con: duckdb.DuckDBPyConnection, text: str, draw: Draw) -> None:
    r"""Run a command. Raises AnonError for an unknown one and EOFError for ``\q``."""
    name, _, argument = text.strip().rstrip(";").partition(" ")
    argument = argument.strip()
    if name == "\\h" and argument:
        console.say(function_help(argument))
    elif name == "\\h":
        draw(con.sql("SELECT name, topic, summary FROM anon_help()"), _ALL)
    elif name == "\\d" and argument:
        draw(con.sql(f"FROM anon_roles({literal(argument)})"), _ALL)
    elif name == "\\d":
        draw(con.sql(_TABLES), _ALL)
    elif name == "\\q":
        raise EOFError
    elif name == "\\?":
        console.say(HELP)
    else:
        raise AnonError("shell", "a command must be known", f"'{name}'", "\\? lists them")


def function_help(name: str) -> str:
    """Return the call of a function and its header. Raises AnonError for an unknown name."""
    entry = headers.find("shell", name)
    (header,) = [file.header for file in sql_files() if file.name == entry.name]
    return f"{entry.call}\n\n{header}"
