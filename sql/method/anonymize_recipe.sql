-- The release that a recipe describes, a TOML file of source, method, roles, parameters and hierarchies.
-- The source is a file beside the recipe, or a table of a database that is attached under the name of
-- its file. A source of other columns, or of other content where the recipe states its hash, is refused.
-- This function does not check the verdict, because one statement cannot audit its own result. `anon-sql
-- release` and `anon_sql.recipe` in Python do, and return nothing if it is red or open.
--
-- path: path of the recipe; relative to the working directory.
-- Returns: the columns of the source without the identifiers and those left out; quasi-identifiers are
--   generalized.
-- Errors: an unknown key, a column without a role, another schema or content, a [source] that says how
--   a file is quoted, encoded, trimmed, or writes NULL, numbers or dates, a database that is not attached,
--   a series, whose state `anon-sql release` and `anon_sql.recipe` write; those of the
--   release function that the recipe names.
-- Example: SELECT * FROM anonymize_recipe('recipe.toml');
CREATE OR REPLACE MACRO anonymize_recipe(path) AS TABLE
FROM query(__anon_recipe_entries_statement(path));
