-- What DOP finds on a table: how it clusters, what is noise, and how often it cuts.
--
-- All arguments as in dop: the same call gives the numbers of the same release.
-- Returns: one row: eps and min_samples as given or chosen, clusters and noise (rows) as DBSCAN
--   leaves them, joined (clusters that were illegal and went into another), splits (cuts made),
--   suppressed (rows), suppression_rate (0…1), classes.
-- Errors: as dop.
-- Example: SELECT * FROM dop_stats('people', k := 2, qids := ['age', 'city']);
CREATE OR REPLACE MACRO dop_stats(
    tbl, k := 5, qids := NULL, sensitive := NULL, identifiers := NULL, keep := NULL,
    l := 1, l_kind := 'distinct', c := 3, t := 1.0, entity := NULL,
    suppressed := 'keep', seed := 42,
    eps := NULL, min_samples := NULL, loss := 'lil', noise := 'class',
    hierarchy := NULL
) AS TABLE
WITH
__anon_planned AS MATERIALIZED (
    SELECT __anon_plan(
        'dop', __anon_types, __anon_k_given,
        __anon_scope(
            tbl, qids, sensitive, identifiers, keep,
            __anon_entity := entity, __anon_l := l, __anon_t := t),
        __anon_seen(tbl),
        __anon_common(
            'label', suppressed, seed,
            __anon_l := l, __anon_l_kind := l_kind, __anon_c := c, __anon_t := t),
        {'eps': eps, 'min_samples': min_samples, 'loss': loss, 'noise': noise}) AS __anon_plan
    FROM __anon_schema(tbl, k)
),
__anon_lists AS (
    SELECT
        list(COLUMNS(lambda __anon_c: __anon_c = '__anon_hash' OR __anon_is(
            'quasi', __anon_c, __anon_scope(
                tbl, qids, sensitive, identifiers, keep,
                __anon_entity := entity, __anon_l := l, __anon_t := t)))),
        __anon_key_list(COLUMNS(lambda __anon_c: __anon_c = '__anon_nobody' OR __anon_is(
            'protected', __anon_c, __anon_scope(
                tbl, qids, sensitive, identifiers, keep,
                __anon_entity := entity, __anon_l := l, __anon_t := t)))) AS '__anon_key_\0'
    FROM
        (SELECT *, {'__anon_none': 0} AS __anon_nobody
         FROM __anon_rows(tbl, __anon_scope(
             tbl, qids, sensitive, identifiers, keep,
             __anon_entity := entity, __anon_l := l, __anon_t := t))),
        __anon_planned
    WHERE CASE
        WHEN __anon_row <= __anon_plan.rows THEN true ELSE error(__anon_plan.too_large) END
),
__anon_given AS MATERIALIZED (
    SELECT struct_pack(*COLUMNS(__anon_lists.*)) AS __anon_packed FROM __anon_lists
),
__anon_found AS MATERIALIZED (
    SELECT __anon_dop_stats(
        __anon_plan, __anon_packed,
        {'eps': eps, 'min_samples': min_samples, 'loss': loss, 'noise': noise}, __anon_trees)
        AS __anon_stats
    FROM
        __anon_planned, __anon_given,
        __anon_trees(
            tbl, __anon_scope(
                tbl, qids, sensitive, identifiers, keep,
                __anon_entity := entity, __anon_l := l, __anon_t := t), hierarchy)
)
SELECT unnest(__anon_stats) FROM __anon_found;
