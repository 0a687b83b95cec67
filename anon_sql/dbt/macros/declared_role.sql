{# The role of a column in schema.yml, under meta or config: meta; none where there is none. #}
{% macro declared_role(relation, column) %}
  {%- set meta = dict(column.meta or {}, **(column.config or {}).get('meta', {})) -%}
  {%- set role = meta.get('anon') -%}
  {%- if role is not none and role not in ['identifier', 'quasi', 'sensitive', 'keep', 'exclude'] -%}
    {{ exceptions.raise_compiler_error(
      "declare_roles: meta anon must be identifier, quasi, sensitive, keep or exclude, got " ~ role
      ~ " for column " ~ column.name ~ " of " ~ relation) }}
  {%- endif -%}
  {{ return(role) }}
{% endmacro %}
