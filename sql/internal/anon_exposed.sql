-- Classes whose sensitive values give something away, for the attacks that need no person.

-- A row a sensitive column and class: its size, how many values it has and how many rows hold one
-- and the most frequent one. NULL is no value. Takes the names of CTEs.
CREATE OR REPLACE MACRO __anon_class_values(__anon_asked, __anon_counts) AS TABLE
WITH
__anon_listed AS (
    SELECT
        unnest(__anon_protects.sensitive) AS __anon_attribute,
        generate_subscripts(__anon_protects.sensitive, 1) AS __anon_at
    FROM query_table(__anon_asked)
),
__anon_summed AS (
    SELECT
        __anon_name, __anon_class,
        any_value(__anon_size) AS __anon_size,
        count_if(__anon_value <> ''::BLOB) AS __anon_values,
        coalesce(sum(__anon_count) FILTER (__anon_value <> ''::BLOB), 0) AS __anon_held,
        coalesce(max(__anon_count) FILTER (__anon_value <> ''::BLOB), 0) AS __anon_most
    FROM query_table(__anon_counts)
    GROUP BY 1, 2
)
SELECT __anon_attribute, __anon_at, __anon_size, __anon_values, __anon_held, __anon_most
FROM __anon_listed LEFT JOIN __anon_summed ON __anon_attribute = __anon_name;

-- A row a sensitive column: classes and rows in all, and those that are exposed. Takes the name of
-- a CTE: the above with __anon_exposed beside it.
CREATE OR REPLACE MACRO __anon_exposures(__anon_judged) AS TABLE
SELECT
    __anon_attribute AS attribute,
    count(__anon_size) AS classes,
    count(*) FILTER (__anon_exposed) AS exposed_classes,
    count(*) FILTER (__anon_exposed) / nullif(count(__anon_size), 0) AS class_share,
    coalesce(sum(__anon_size), 0)::BIGINT AS rows,
    coalesce(sum(__anon_size) FILTER (__anon_exposed), 0)::BIGINT AS exposed_rows,
    (coalesce(sum(__anon_size) FILTER (__anon_exposed), 0) / sum(__anon_size))::DOUBLE
        AS row_share
FROM query_table(__anon_judged)
GROUP BY __anon_attribute, __anon_at
ORDER BY __anon_at;
