{#
  The links between tables, from the tests relationships of schema.yml: a list for the parameter
  links of linked_plan, linked_risk and linked_audit.
  tables: relations. Naming them by ref() makes a model wait for them.
#}
{% macro links_of(tables) %}
  {%- set names = tables | map('string') | list -%}
  {%- set links = [] -%}
  {%- if execute -%}
    {%- for test in graph.nodes.values()
        if test.resource_type == 'test' and test.test_metadata
        and test.test_metadata.name == 'relationships' and test.attached_node -%}
      {%- set child = graph.nodes[test.attached_node] -%}
      {%- set arguments = test.test_metadata.kwargs -%}
      {%- for id in test.depends_on.nodes if id != test.attached_node and id in graph.nodes -%}
        {%- set parent = graph.nodes[id] -%}
        {%- if child.relation_name in names and parent.relation_name in names -%}
          {%- do links.append(
            child.relation_name ~ '.' ~ adapter.quote(arguments.column_name) ~ ' -> '
            ~ parent.relation_name ~ '.' ~ adapter.quote(arguments.field)) -%}
        {%- endif -%}
      {%- endfor -%}
    {%- endfor -%}
  {%- endif -%}
  {{ return(anon_sql.text(links)) }}
{% endmacro %}
