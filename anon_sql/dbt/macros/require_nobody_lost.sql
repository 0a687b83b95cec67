{#
  Raises an error where a run of a model, compared with its entries in the ledger, releases persons
  again or loses a release. whose: the parameters entity and key of ledger_overlap, as SQL.
#}
{% macro require_nobody_lost(raw, whose) %}
  {%- set runs, again, unknown, lost = run_query(
    "select count(*), coalesce(sum(shared), 0), count(*) filter (shared is null), "
    ~ "count(*) filter (persons > 0 and shared = 0) from ledger_overlap(" ~ anon_sql.name(raw) ~ ", "
    ~ anon_sql.name(anon_sql.ledger()) ~ ", " ~ whose ~ ") where release = "
    ~ anon_sql.text(model.name)).rows[0].values() -%}
  {%- if unknown -%}
    {{ exceptions.raise_compiler_error(
      "record_release: key must be the one that all entries of " ~ model.name
      ~ " in the ledger were made with, got a different key for " ~ unknown ~ " of " ~ runs) }}
  {%- elif is_incremental() and not runs -%}
    {{ exceptions.raise_compiler_error(
      "record_release: an incremental run needs the entries of the earlier runs of " ~ model.name
      ~ "; the ledger has none and cannot tell whom they released; name their ledger in the "
      ~ "variable anon_ledger, or enter them with ledger_entry") }}
  {%- elif is_incremental() and again -%}
    {{ exceptions.raise_compiler_error(
      "record_release: an incremental run must append new persons only, got " ~ again
      ~ " whom " ~ model.name ~ " has released before; release anon_sql.new_persons") }}
  {%- elif lost and not is_incremental() -%}
    {{ exceptions.raise_compiler_error(
      "record_release: a run that replaces " ~ model.name ~ " must release the persons of its earlier "
      ~ "runs, got none of the persons of " ~ lost ~ " of " ~ runs ~ "; materialized='incremental' with "
      ~ "full_refresh=false in the config of the model keeps them and appends new persons") }}
  {%- endif -%}
{% endmacro %}
