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
-- Takes the names of CTEs: the classes, what the raw table holds, and its hierarchies.
CREATE OR REPLACE MACRO __anon_measure_losses(
    __anon_classes, __anon_domain, __anon_ncp, __anon_grown := NULL
) AS TABLE
WITH
__anon_no_trees AS (SELECT NULL::STRUCT(__anon_zero INTEGER) AS __anon_trees),
-- One row, so that labels meet their hierarchy once.
__anon_gathered AS MATERIALIZED (
    SELECT list(COLUMNS(*)) FROM query_table(__anon_classes)
),
__anon_told AS (
    SELECT __anon_told(COLUMNS(* EXCLUDE (__anon_size, __anon_class))) FROM __anon_gathered
),
__anon_climbed AS MATERIALIZED (
    SELECT __anon_tree_losses(struct_pack(*COLUMNS(__anon_told.*)), __anon_trees) AS __anon_shares
    FROM __anon_told, query_table(coalesce(__anon_grown, '__anon_no_trees'))
),
__anon_labels AS (
    SELECT
        unnest(list_zip(
            COLUMNS(* EXCLUDE (__anon_size, __anon_class, __anon_shares)),
            __anon_shares[alias(COLUMNS(* EXCLUDE (__anon_size, __anon_class, __anon_shares)))])),
        unnest(__anon_size) AS __anon_size, unnest(__anon_class) AS __anon_class
    FROM __anon_gathered, __anon_climbed
),
__anon_domained AS (
    SELECT * EXCLUDE (__anon_rows) FROM __anon_labels, query_table(__anon_domain)
),
__anon_paired AS (
    SELECT
        __anon_pair(
            COLUMNS(* EXCLUDE (__anon_size, __anon_class, __anon_domains)),
            __anon_domains[__anon_fold(alias(COLUMNS(
                * EXCLUDE (__anon_size, __anon_class, __anon_domains))))]),
        __anon_size, __anon_class
    FROM __anon_domained
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
            ::STRUCT(
                name VARCHAR, star BOOLEAN, quotes BOOLEAN, tree BOOLEAN, loss DOUBLE)[] AS __anon_cells,
        __anon_size, __anon_class
    FROM __anon_weighed
)
SELECT
    *,
    list_bool_and(list_transform(__anon_cells, lambda x: x.star)) AS __anon_starred
FROM __anon_listed;
