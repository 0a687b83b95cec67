{#
  Raises an error where an incremental run has appended a release, and nothing says of whom. The
  post-hook declare_roles calls it.
#}
{% macro refuse_appended_release() %}
  {%- if execute and model.config.materialized == 'incremental' and is_incremental() -%}
    {%- set listed = "select name from anon_methods() union all select 'generalize'" -%}
    {%- set methods = run_query(listed).columns[0].values() -%}
    {%- set found = modules.re.search(
      '\\b(' ~ methods | join('|') ~ ')\\s*\\(', model.compiled_code or '', modules.re.IGNORECASE) -%}
    {%- set recorded = model.config.get('post-hook', []) | map(attribute='sql') | join(' ') -%}
    {%- if found and 'record_release' not in recorded -%}
      {{ exceptions.raise_compiler_error(
        "declare_roles: " ~ model.name ~ " must not append a second release of the same persons to "
        ~ "the first, which together disclose more than each, got an incremental run without "
        ~ "record_release; add this post-hook and release anon_sql.new_persons, or materialize a "
        ~ "table") }}
    {%- endif -%}
  {%- endif -%}
{% endmacro %}
