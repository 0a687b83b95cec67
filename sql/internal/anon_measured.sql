-- Every measure of a release, in one row: raw table and release are each read once.
--
-- raw table ─► what its columns hold ─┐
-- release ─► classes ─► their losses ─┴─► sums ─► check of the whole call ─► measures

-- What a call says about roles. Identifiers need none: nothing is released.
CREATE OR REPLACE MACRO __anon_measure_call(__anon_raw, __anon_qids, __anon_sensitive) AS
    __anon_call_of(__anon_raw, __anon_qids, __anon_sensitive, NULL, NULL, NULL, NULL, true);

-- The sums over all classes, and for each column what is lost and what is wrong.
CREATE OR REPLACE MACRO __anon_measure_sums(__anon_losses) AS TABLE
WITH
__anon_by_column AS (
    SELECT
        __anon_cell.name AS name,
        sum(__anon_size * __anon_cell.loss) AS lost,
        count(*) - count(__anon_cell.loss) AS malformed,
        count_if(__anon_cell.loss > 1) AS beyond,
        bool_or(__anon_cell.quotes) AS quotes,
        bool_or(__anon_cell.tree) AS tree
    FROM (SELECT __anon_size, unnest(__anon_cells) AS __anon_cell FROM query_table(__anon_losses))
    GROUP BY 1
)
SELECT
    coalesce(sum(__anon_size), 0)::BIGINT AS __anon_shown,
    coalesce(sum(__anon_size) FILTER (__anon_starred), 0)::BIGINT AS __anon_starred,
    count(*) FILTER (NOT __anon_starred) AS __anon_classes,
    min(__anon_size) FILTER (NOT __anon_starred) AS __anon_smallest,
    coalesce(sum(__anon_size * __anon_size) FILTER (NOT __anon_starred), 0) AS __anon_squares,
    (SELECT list(__anon_by_column) FROM __anon_by_column) AS __anon_columns
FROM query_table(__anon_losses);

-- Roles, types, parameters and labels, looked at together: an error, or what the call asks for.
-- adds: whether the release may have more rows than the raw table.
CREATE OR REPLACE MACRO __anon_measure_check(
    __anon_function, __anon_raw, __anon_released, __anon_k, __anon_ncp, __anon_call,
    __anon_domain, __anon_sums, __anon_adds := false
) AS TABLE
SELECT
    __anon_measure(
        __anon_function, __anon_r.__anon_types, __anon_s.__anon_types, __anon_r.__anon_k_given,
        __anon_ncp, __anon_call, __anon_seen(__anon_raw || ' ' || __anon_released),
        __anon_released, __anon_rows, __anon_shown, map_values(__anon_domains), __anon_columns,
        __anon_adds)
        AS __anon_plan,
    __anon_s.__anon_types AS __anon_released_types,
    __anon_rows,
    __anon_shown,
    __anon_starred + __anon_rows - __anon_shown AS __anon_suppressed,
    __anon_classes,
    __anon_smallest,
    __anon_squares
FROM
    __anon_schema(__anon_raw, __anon_k) AS __anon_r,
    __anon_schema(__anon_released, 0) AS __anon_s,
    query_table(__anon_domain),
    query_table(__anon_sums);

CREATE OR REPLACE MACRO __anon_measured(
    __anon_function, __anon_raw, __anon_released, __anon_k, __anon_ncp, __anon_call,
    __anon_hierarchy := NULL, __anon_adds := false
) AS TABLE
WITH
__anon_grown AS MATERIALIZED (FROM __anon_trees(__anon_raw, __anon_call, __anon_hierarchy)),
__anon_held AS MATERIALIZED (FROM __anon_measure_domain(__anon_raw, __anon_call)),
__anon_classed AS (FROM __anon_measure_classes(__anon_released, __anon_call)),
__anon_lost AS MATERIALIZED (
    FROM __anon_measure_losses('__anon_classed', '__anon_held', __anon_ncp, '__anon_grown')),
__anon_summed AS (FROM __anon_measure_sums('__anon_lost')),
__anon_checked AS MATERIALIZED (
    FROM __anon_measure_check(
        __anon_function, __anon_raw, __anon_released, __anon_k, __anon_ncp, __anon_call,
        '__anon_held', '__anon_summed', __anon_adds))
SELECT
    __anon_rows,
    __anon_shown,
    __anon_suppressed,
    __anon_classes,
    if(__anon_shown = 0, NULL,
        least(__anon_smallest, if(__anon_suppressed > 0, __anon_suppressed, NULL)))::BIGINT
        AS __anon_smallest,
    (__anon_squares + __anon_suppressed * __anon_suppressed)::BIGINT AS __anon_dm,
    (__anon_squares + __anon_suppressed * __anon_rows)::BIGINT AS __anon_dm_star,
    (__anon_rows - __anon_suppressed) / nullif(__anon_classes, 0) / __anon_plan.k AS __anon_cavg,
    list_sum(__anon_plan.ncp) / len(__anon_plan.ncp) AS __anon_gcp,
    __anon_suppressed / nullif(__anon_rows, 0) AS __anon_suppression_rate,
    __anon_plan.quasi AS __anon_attributes,
    __anon_plan.ncp AS __anon_ncps
FROM __anon_checked
WHERE __anon_plan.k > 0;
