"""Read recipes for SQL: what ``anonymize_recipe`` passes to ``anonymize``."""

from pathlib import Path
from typing import Any

import pyarrow as pa

from anon_sql.core.arrow import first
from anon_sql.core.names import quote
from anon_sql.core.parameters import takes
from anon_sql.errors import AnonError
from anon_sql.hosts import recipes
from anon_sql.hosts.duckdb.binding import types_of
from anon_sql.hosts.duckdb.registry import sql_type, udf

NAME = "anonymize_recipe"
METHOD = "anonymize"
_TEXTS = ("l_kind", "entity", "format", "suppressed", "effort", "beta_kind")
_WHOLE = ("k", "c", "seed", "rounds")
_NUMBERS = ("l", "t", "time_limit", "beta", "delta", "suppression_limit", "max_share")
_LISTS = ("qids", "sensitive", "identifiers", "keep", "drop", "strata", "hierarchies")
_ENTRIES = pa.struct(
    [
        ("relation", pa.string()),
        *((name, pa.string()) for name in _TEXTS),
        *((name, pa.int64()) for name in _WHOLE),
        *((name, pa.float64()) for name in _NUMBERS),
        *((name, pa.list_(pa.string())) for name in _LISTS),
        ("weights", pa.map_(pa.string(), pa.float64())),
    ]
)


@udf(sql_type(_ENTRIES))
def entries(paths: Any) -> pa.Array:
    """Return what a recipe says by parameter, for each row; or raise AnonError."""
    recipe = _recipe(first(paths))
    recipes.require_content(NAME, recipe)
    defaults = {name: known.default for name, known in takes(METHOD).items()}
    said = {name: value for name, value in recipe.parameters.items() if name in defaults}
    found: dict[str, Any] = {
        field.name: said.get(field.name, defaults.get(field.name)) for field in _ENTRIES
    }
    strata = found["strata"]
    found |= {
        **recipe.roles,
        "relation": _relation(recipe),
        "strata": [strata] if isinstance(strata, str) else strata,
        "hierarchies": [str(path) for path in recipe.hierarchies.values()],
        "weights": None if found["weights"] is None else list(found["weights"].items()),
    }
    try:
        return pa.array([found] * len(paths), _ENTRIES)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        rule = "[release] of the recipe must have values of the right types"
        raise AnonError(NAME, rule, "another") from None


@udf("BOOLEAN")
def fits(paths: Any, types: Any) -> pa.Array:
    """Return true for each row if a relation is the source of a recipe, or raise AnonError."""
    recipes.require_schema(NAME, _recipe(first(paths)), types_of(types))
    return pa.array([True] * len(paths))


def _recipe(path: Any) -> recipes.Recipe:
    if not isinstance(path, str):
        raise AnonError(NAME, "path must be the path of a recipe", type(path).__name__)
    recipe = recipes.read(NAME, Path(path))
    if recipe.method != METHOD:
        rule = f"method must be {METHOD}"
        raise AnonError(NAME, rule, f"'{recipe.method}'", "anon-sql release takes every method")
    for name in ("regions", "region_rows"):
        if name in recipe.parameters:
            rule = f"{name} must be left out"
            raise AnonError(NAME, rule, "a number", "anon-sql release releases in parts")
    return recipe


def _relation(recipe: recipes.Recipe) -> str:
    """Return the source as a relation of DuckDB: a file, or a table of an attached database."""
    if recipe.table is None:
        return str(recipe.file)
    return f"{quote(recipe.file.stem)}.{recipe.table}"
