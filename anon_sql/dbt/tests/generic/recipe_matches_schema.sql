{#
  Fails, with a sentence, unless a model has the columns that a recipe was written for.
  recipe: path of the TOML file, relative to the folder in which dbt runs.
#}
{% test recipe_matches_schema(model, recipe) %}
select fits
from (
    select __anon_recipe_entries_fits({{ anon_sql.text(recipe) }}, __anon_types) as fits
    from __anon_types({{ anon_sql.name(model) }})
)
where not fits
{% endtest %}
