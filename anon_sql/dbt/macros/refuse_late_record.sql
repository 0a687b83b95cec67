{#
  Raises an error where record_release would run after the transaction, when what it refuses has already
  replaced the earlier release. The post-hook declare_roles calls it.
#}
{% macro refuse_late_record() %}
  {%- for hook in model.config.get('post-hook', []) -%}
    {%- if 'record_release' in hook.sql and not hook.transaction -%}
      {{ exceptions.raise_compiler_error(
        "declare_roles: record_release must be a post-hook inside the transaction of " ~ model.name
        ~ ", got one after it; remove transaction: false") }}
    {%- endif -%}
  {%- endfor -%}
{% endmacro %}
