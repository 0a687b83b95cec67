-- How far the sensitive values of each class are from those of the raw table.
--
-- With m rows in the class and n in the table a share is a count times n or m, so that all sums
-- are of whole numbers, and one division at the end gives the distance.

-- A row a column and value: how often, which rank, and running sums up to that rank. With an entity
-- a value is counted once for each person.
CREATE OR REPLACE MACRO __anon_sensitive_values(
    __anon_raw, __anon_released, __anon_call, __anon_entity := NULL
) AS TABLE
WITH
__anon_alike AS (
    FROM __anon_alike_persons(__anon_raw, __anon_released, __anon_call, __anon_entity)
),
__anon_keyed AS (
    SELECT __anon_person, __anon_key(COLUMNS(* EXCLUDE (__anon_person))) FROM __anon_alike
),
__anon_pairs AS (
    SELECT
        __anon_person,
        __anon_named(
            alias(COLUMNS(* EXCLUDE (__anon_person))), COLUMNS(* EXCLUDE (__anon_person)))
    FROM __anon_keyed
),
__anon_cells AS (
    SELECT
        __anon_person,
        unnest(list_value(*COLUMNS(* EXCLUDE (__anon_person)))) AS __anon_cell
    FROM __anon_pairs
),
__anon_counted AS (
    SELECT
        __anon_cell.name AS __anon_name, __anon_cell.value AS __anon_value,
        if(__anon_entity IS NULL, count(*), count(DISTINCT __anon_person)) AS __anon_often
    FROM __anon_cells
    WHERE __anon_cell.value IS NOT NULL
    GROUP BY ALL
),
__anon_ranked AS (
    SELECT
        __anon_name, __anon_value, __anon_often,
        (sum(__anon_often) OVER __anon_all)::BIGINT AS __anon_n,
        count(*) OVER __anon_all AS __anon_every,
        bool_or(__anon_value = ''::BLOB) OVER __anon_all AS __anon_nulls,
        row_number() OVER __anon_lower AS __anon_rank,
        (sum(__anon_often) OVER __anon_lower)::BIGINT AS __anon_up_to
    FROM __anon_counted
    WINDOW
        __anon_all AS (PARTITION BY __anon_name),
        __anon_lower AS (
            PARTITION BY __anon_name ORDER BY __anon_value ROWS UNBOUNDED PRECEDING)
)
SELECT
    *,
    sum(__anon_up_to) OVER (
        PARTITION BY __anon_name ORDER BY __anon_rank ROWS UNBOUNDED PRECEDING) AS __anon_summed,
    sum(__anon_up_to) OVER (PARTITION BY __anon_name) AS __anon_total
FROM __anon_ranked;

-- The classes' values beside the table's; the rank is NULL for what the raw table lacks.
CREATE OR REPLACE MACRO __anon_met_values(
    __anon_counts, __anon_values, __anon_asked, __anon_climbs
) AS TABLE
SELECT
    __anon_c.__anon_class, __anon_c.__anon_name, __anon_c.__anon_value,
    __anon_c.__anon_count, __anon_c.__anon_size AS __anon_m,
    __anon_v.* EXCLUDE (__anon_name, __anon_value),
    CASE
        WHEN list_contains(__anon_grown_names, __anon_c.__anon_name) THEN 'tree'
        WHEN list_contains(__anon_protects.numbers, __anon_c.__anon_name)
            AND NOT coalesce(__anon_v.__anon_nulls, false) THEN 'ordered'
        ELSE 'equal'
    END AS __anon_distance
FROM
    query_table(__anon_asked), query_table(__anon_climbs),
    query_table(__anon_counts) AS __anon_c
    LEFT JOIN query_table(__anon_values) AS __anon_v
        ON __anon_c.__anon_name = __anon_v.__anon_name
        AND __anon_c.__anon_value = __anon_v.__anon_value;

-- Values that a class lacks add their share to the sum, which is 1 in all.
CREATE OR REPLACE MACRO __anon_equal_distances(__anon_met) AS TABLE
SELECT
    __anon_class, __anon_name,
    (sum(abs(__anon_count * __anon_n - __anon_often * __anon_m) - __anon_often * __anon_m)
        + any_value(__anon_m * __anon_n))::DOUBLE
    / any_value(2 * __anon_m * __anon_n) AS __anon_t
FROM query_table(__anon_met)
WHERE __anon_distance = 'equal'
GROUP BY __anon_class, __anon_name;

-- Between two values of a class its running share stays and the table's rises: it is passed at
-- one rank at most, which is looked for, and running sums say what lies on either side.
CREATE OR REPLACE MACRO __anon_ordered_distances(__anon_met, __anon_values) AS TABLE
WITH
__anon_run AS (
    SELECT
        *,
        (sum(__anon_count) OVER __anon_lower)::BIGINT * __anon_n AS __anon_reached,
        __anon_rank - 1 AS __anon_from,
        __anon_summed - __anon_up_to AS __anon_sum_from,
        lead(__anon_rank - 1, 1, __anon_every) OVER __anon_lower AS __anon_to,
        lead(__anon_summed - __anon_up_to, 1, __anon_total) OVER __anon_lower AS __anon_sum_to,
        row_number() OVER __anon_lower = 1 AS __anon_first
    FROM query_table(__anon_met)
    WHERE __anon_distance = 'ordered'
    WINDOW __anon_lower AS (
        PARTITION BY __anon_class, __anon_name ORDER BY __anon_rank
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
),
__anon_passed AS (
    SELECT
        __anon_r.*,
        greatest(coalesce(__anon_v.__anon_rank, 0), __anon_from) AS __anon_at,
        greatest(coalesce(__anon_v.__anon_summed, 0), __anon_sum_from) AS __anon_sum_at
    FROM
        __anon_run AS __anon_r
        ASOF LEFT JOIN query_table(__anon_values) AS __anon_v
            ON __anon_r.__anon_name = __anon_v.__anon_name
            AND (__anon_r.__anon_reached - 1) // __anon_r.__anon_m >= __anon_v.__anon_up_to
)
SELECT
    __anon_class, __anon_name,
    coalesce(
        sum(
            if(__anon_first, __anon_sum_from, 0) * __anon_m
            + if(__anon_at < __anon_to,
                __anon_reached * (2 * __anon_at - __anon_from - __anon_to)
                    + (__anon_sum_from + __anon_sum_to - 2 * __anon_sum_at) * __anon_m,
                __anon_reached * (__anon_to - __anon_from)
                    + (__anon_sum_from - __anon_sum_to) * __anon_m))::DOUBLE
        / nullif(any_value((__anon_every - 1)::HUGEINT * __anon_m * __anon_n), 0), 0) AS __anon_t
FROM __anon_passed
GROUP BY __anon_class, __anon_name;
