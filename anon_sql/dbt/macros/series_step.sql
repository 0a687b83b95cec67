{#
  Writes the next state of the series of a model, for a pre-hook: in the transaction that writes the
  release, so that a build that fails leaves both as they were. The model releases the same table with
  series := {{ anon_sql.series() }}.
  raw: the table that is released. Others, by name: the parameters of series_next.
#}
{% macro series_step(raw) %}
  {%- if execute -%}
  {%- set state = anon_sql.series() -%}
  {%- set hooks = model.config.get('pre-hook', []) | selectattr('transaction', 'equalto', true) -%}
  {%- if model.config.materialized != 'table' or 'series_step' not in hooks | map(attribute='sql') | join -%}
    {{ exceptions.raise_compiler_error(
      "series_step: " ~ model.name ~ " must be materialized as a table, and the pre-hook lie inside its "
      ~ "transaction; export the table by a model of its own") }}
  {%- endif -%}
  {%- if state.render() not in model.compiled_code or raw.render() not in model.compiled_code -%}
    {{ exceptions.raise_compiler_error(
      "series_step: " ~ model.name ~ " must release raw with series := anon_sql.series(), got a model "
      ~ "that does not read both") }}
  {%- endif -%}
  create table if not exists {{ state }} as from __anon_series_columns();
  create or replace table {{ state }} as from series_next(
    {{ anon_sql.name(raw) }}, {{ anon_sql.name(state) }}
    {%- for name, value in kwargs.items() %}, {{ name }} := {{ anon_sql.value(value) }}{% endfor %})
  {%- endif -%}
{% endmacro %}
