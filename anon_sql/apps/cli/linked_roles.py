"""``anon-sql roles IN --root``: write a first recipe of tables that belong together."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb

import anon_sql
from anon_sql import system
from anon_sql.apps.cli.linked import opened
from anon_sql.hosts import recipe_source, recipes
from anon_sql.hosts.files import atomic_file, digest
from anon_sql.hosts.linked import schema_of
from anon_sql.hosts.linked_roles import suggested
from anon_sql.hosts.statements import BLANK

NAME = "roles"


def write_recipe(
    source: Path, path: Path, root: str, links: Sequence[str], leave_out: Sequence[str]
) -> Iterator[str]:
    """Write a first recipe of a database, or of a folder of files, and return lines that say so."""
    with opened(NAME, "FILE", source) as con:
        roles = suggested(con, NAME, root, links, leave_out)
        schema = schema_of(
            con, NAME, root, links=list(links), leave_out=list(leave_out),
            roles=recipes.by_parameter(roles),
        )  # fmt: skip
    relative = system.relative(source.absolute(), path.absolute().parent)
    stated = {"folder" if source.is_dir() else "database": relative, "root": root}
    hashed = {} if source.is_dir() else {"sha256": digest(source)}
    with atomic_file(path) as temporary:
        recipes.write(
            temporary,
            {
                **stated,
                "links": list(links),
                "leave_out": list(leave_out),
                "schema_sha256": recipe_source.linked_schema_sha256(schema),
                **hashed,
            },
            roles,
            release={
                "k": 5, "l": 2 if roles["sensitive"] else 1, "surplus": "drop", "effort": "good",
                "seed": 42,
            },
            statement=dict(BLANK),
            made={"anon_sql": anon_sql.__version__, "duckdb": duckdb.__version__},
        )  # fmt: skip
    yield f"{path}: a recipe with the suggested roles; read them, and set confirmed = true"
    yield f"next: {shlex.join(['anon-sql', 'release', str(path), 'OUT/'])}"
