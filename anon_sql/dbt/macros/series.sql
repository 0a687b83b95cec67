{# The state of the series of a model, beside the model. released: the model, by default the one at hand. #}
{% macro series(released=none) %}
  {%- set of = released or this -%}
  {{ return(api.Relation.create(
    database=of.database, schema=of.schema, identifier=of.identifier ~ '_series')) }}
{% endmacro %}
