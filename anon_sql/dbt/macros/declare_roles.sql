{#
  Writes the roles that schema.yml declares (meta: {anon: quasi}) into the comments of the columns.
  For a post-hook, inside the transaction that makes the relation: no reader ever sees it without.
  An incremental model that would release the same persons twice is refused.
#}
{% macro declare_roles() %}
  {%- do anon_sql.refuse_appended_release() -%}
  {%- do anon_sql.refuse_late_record() -%}
  {%- set existing = adapter.get_columns_in_relation(this) | map(attribute='name') | map('lower') | list -%}
  {%- set declared = {} -%}
  {%- for name, column in model.columns.items() -%}
    {%- set role = anon_sql.declared_role(model.name, column) -%}
    {%- if role -%}
      {%- if name | lower not in existing -%}
        {{ exceptions.raise_compiler_error(
          "declare_roles: " ~ model.name ~ " must have every column that schema.yml gives a role, "
          ~ "got no column called " ~ name) }}
      {%- endif -%}
      {#- persist_docs comes after this hook and writes descriptions over comments -#}
      {%- do column.update({'description': (column.description ~ ' anon:' ~ role) | trim}) -%}
      {%- do declared.update({name: column}) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- for name, column in declared.items() %}
    comment on column {{ this }}.{{ adapter.quote(name) }} is {{ anon_sql.text(column.description) }};
  {%- endfor -%}
{% endmacro %}
