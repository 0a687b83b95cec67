{#
  The classes of a whole table for which a measure is below a limit: rows that show the same in all
  quasi-identifiers. The raw table is not compared, since it may lack persons released earlier.
#}
{% macro small_classes(model, quasi, measures, limit) %}
select * from (
    select {{ quasi | join(', ') }}, least({{ measures | join(', ') }}) as size
    from {{ model }}
    group by {{ quasi | join(', ') }}
)
where size < {{ limit }}
{% endmacro %}
