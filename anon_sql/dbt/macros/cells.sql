{# The cells of a relation as rows of column_name and text; an empty relation has a NULL in each. #}
{% macro cells(relation) %}
    select column_name, anon_value
    from (
        select columns(*)::varchar
        from (select 0 as anon_row) left join (select * from {{ relation }}) on true
    )
    unpivot include nulls (anon_value for column_name in (columns(* exclude (anon_row))))
{% endmacro %}
