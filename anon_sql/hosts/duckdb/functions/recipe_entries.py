"""Read recipes for SQL: the call that ``anonymize_recipe`` makes."""

from pathlib import Path
from typing import Any

import pyarrow as pa

from anon_sql.core.arrow import first
from anon_sql.core.names import literal, quote, sql_value
from anon_sql.core.parameters import takes
from anon_sql.errors import AnonError
from anon_sql.hosts import recipe_source, recipes
from anon_sql.hosts.duckdb.binding import types_of
from anon_sql.hosts.duckdb.registry import udf
from anon_sql.hosts.statements import require_review_ahead

NAME = "anonymize_recipe"
_IN_PARTS = ("parts", "part_rows")
_TREES = "__anon_recipe_trees"


@udf("VARCHAR")
def statement(paths: Any) -> pa.Array:
    """Return the release of a recipe as SQL, for each row; or raise AnonError."""
    path = first(paths)
    recipe = _recipe(path)
    recipe_source.require_content(NAME, recipe)
    parameters = takes(recipe.method)
    call = {name: parameters[name].default for name in parameters if name == "k"}
    call |= {name: value for name, value in recipe.parameters.items() if name in parameters}
    call |= {role: names for role, names in recipe.roles.items() if names}
    trees = ""
    if recipe.hierarchies:
        files = sql_value(list(map(str, recipe.hierarchies.values())))
        trees = f"WITH {_TREES} AS NOT MATERIALIZED (FROM read_hierarchies({files})) "
        call["hierarchy"] = _TREES
    relation = literal(recipe_source.relation(recipe))
    k = sql_value(call.pop("k"))
    arguments = "".join(f", {quote(name)} := {sql_value(value)}" for name, value in call.items())
    fits = f"__anon_recipe_entries_fits({literal(path)}, __anon_types)"
    k = f"(SELECT if({fits}, {k}, NULL) FROM __anon_types({relation}))"  # known before the rows
    sql = f"{trees}FROM {recipe.method}({relation}, k := {k}{arguments})"
    return pa.array([sql] * len(paths))


@udf("BOOLEAN")
def fits(paths: Any, types: Any) -> pa.Array:
    """Return true for each row if a relation is the source of a recipe, or raise AnonError."""
    recipe_source.require_schema(NAME, _recipe(first(paths)), types_of(types))
    return pa.array([True] * len(paths))


def _recipe(path: Any) -> recipes.Recipe:
    if not isinstance(path, str):
        raise AnonError(NAME, "path must be the path of a recipe", type(path).__name__)
    recipe = recipes.read_recipe(NAME, Path(path))
    require_review_ahead(NAME, recipe.statement)
    for name in _IN_PARTS:
        if name in recipe.parameters:
            rule = f"{name} must be left out"
            raise AnonError(NAME, rule, "a number", "anon-sql release releases in parts")
    return recipe
