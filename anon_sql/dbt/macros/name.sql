{# A relation as the text of its name; NULL for none. A file is text already, --empty is left out. #}
{% macro name(relation) %}
  {%- set written = relation.render() if relation.render is defined else relation -%}
  {{ return(written if written and written.startswith("'") else anon_sql.text(written)) }}
{% endmacro %}
