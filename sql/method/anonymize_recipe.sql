-- The release that a recipe describes, a TOML file of source, roles, parameters and hierarchies. The
-- source is a file beside the recipe, or a table of a database that is attached under the name of its
-- file. A source of other columns, or of other content where the recipe states its hash, is refused.
-- The verdict is not judged: `anon-sql release` does that.
--
-- path: path of the recipe; relative to the working directory.
-- Returns: the columns of the source without the identifiers and those left out; quasi-identifiers are
--   generalized.
-- Errors: an unknown key, a column without a role, another schema or content, a method other than
--   anonymize, a database that is not attached; those of anonymize.
-- Example: SELECT * FROM anonymize_recipe('recipe.toml');
CREATE OR REPLACE MACRO anonymize_recipe(path) AS TABLE
WITH __anon_recipe_trees AS NOT MATERIALIZED (
    FROM read_hierarchies(__anon_recipe(path, 'hierarchies'))
)
FROM anonymize(
    __anon_recipe(path, 'relation'),
    k := __anon_recipe(path, 'k'),
    qids := __anon_recipe(path, 'qids'),
    sensitive := __anon_recipe(path, 'sensitive'),
    identifiers := __anon_recipe(path, 'identifiers'),
    keep := __anon_recipe(path, 'keep'),
    drop := __anon_recipe(path, 'drop'),
    l := __anon_recipe(path, 'l'),
    l_kind := __anon_recipe(path, 'l_kind'),
    c := __anon_recipe(path, 'c'),
    t := __anon_recipe(path, 't'),
    entity := __anon_recipe(path, 'entity'),
    format := __anon_recipe(path, 'format'),
    suppressed := __anon_recipe(path, 'suppressed'),
    seed := __anon_recipe(path, 'seed'),
    effort := __anon_recipe(path, 'effort'),
    time_limit := __anon_recipe(path, 'time_limit'),
    rounds := __anon_recipe(path, 'rounds'),
    beta := __anon_recipe(path, 'beta'),
    delta := __anon_recipe(path, 'delta'),
    strata := __anon_recipe(path, 'strata'),
    weights := __anon_recipe(path, 'weights'),
    suppression_limit := __anon_recipe(path, 'suppression_limit'),
    beta_kind := __anon_recipe(path, 'beta_kind'),
    max_share := __anon_recipe(path, 'max_share'),
    hierarchy := if(len(__anon_recipe(path, 'hierarchies')) > 0, '__anon_recipe_trees', NULL))
WHERE (
    SELECT __anon_recipe_entries_fits(path, __anon_types)
    FROM __anon_types(__anon_recipe(path, 'relation')));
