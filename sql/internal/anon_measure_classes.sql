-- The classes of a release, and what each of them loses.

-- A row a class: its labels and how many rows show them.
CREATE OR REPLACE MACRO __anon_measure_classes(__anon_released, __anon_call) AS TABLE
SELECT
    COLUMNS(lambda __anon_c:
        __anon_is('quasi', __anon_c, __anon_call) OR __anon_c = '__anon_zero'),
    count(*) AS __anon_size,
    0 AS __anon_class
FROM (SELECT *, 0 AS __anon_zero FROM query_table(__anon_released))
GROUP BY ALL;

-- A row a class: size, cells (one struct a column) and whether all of them are suppressed.
-- Takes the names of two CTEs: the classes, and what the raw table holds.
CREATE OR REPLACE MACRO __anon_measure_losses(
    __anon_classes, __anon_domain, __anon_ncp
) AS TABLE
WITH
__anon_labels AS (
    SELECT * EXCLUDE (__anon_rows)
    FROM query_table(__anon_classes), query_table(__anon_domain)
),
__anon_paired AS (
    SELECT
        __anon_pair(
            COLUMNS(* EXCLUDE (__anon_size, __anon_class, __anon_domains)),
            __anon_domains[__anon_fold(alias(COLUMNS(
                * EXCLUDE (__anon_size, __anon_class, __anon_domains))))]),
        __anon_size, __anon_class
    FROM __anon_labels
),
__anon_read AS (
    SELECT
        __anon_said(COLUMNS(* EXCLUDE (__anon_size, __anon_class))), __anon_size, __anon_class
    FROM __anon_paired
),
__anon_placed AS (
    SELECT
        __anon_place(COLUMNS(* EXCLUDE (__anon_size, __anon_class))), __anon_size, __anon_class
    FROM __anon_read
),
__anon_weighed AS (
    SELECT
        __anon_cell(COLUMNS(* EXCLUDE (__anon_size, __anon_class)), __anon_ncp),
        __anon_size, __anon_class
    FROM __anon_placed
),
__anon_listed AS (
    SELECT
        list_value(*COLUMNS(* EXCLUDE (__anon_zero, __anon_size, __anon_class)))
            ::STRUCT(name VARCHAR, star BOOLEAN, quotes BOOLEAN, loss DOUBLE)[] AS __anon_cells,
        __anon_size, __anon_class
    FROM __anon_weighed
)
SELECT
    *,
    list_bool_and(list_transform(__anon_cells, lambda x: x.star)) AS __anon_starred
FROM __anon_listed;
