-- Group a relation. Each macro returns one row with one struct of lists: a list for each column, and
-- __anon_count, the number of rows of each group. The lists are NULL for an empty relation.
--
-- The column __anon_zero is added, so that a relation without a column of the kind is no binder error
-- and the core can report it.

-- Group by the unchanged values of the columns of a kind (see __anon_binding_is_role).
CREATE OR REPLACE MACRO __anon_groups(__anon_tbl, __anon_call, __anon_kind) AS TABLE
WITH
__anon_grouped AS (
    SELECT
        COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_binding_is_role(__anon_kind, __anon_c, __anon_call)),
        system.main.count(*) AS __anon_count
    FROM (SELECT *, 0::TINYINT AS __anon_zero FROM query_table(__anon_tbl))
    GROUP BY ALL
),
__anon_listed AS (SELECT system.main.list(COLUMNS(*)) FROM __anon_grouped)
SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_groups FROM __anon_listed;

-- Return the rows of a relation with a sort key __anon_key_<name> for each column of a kind. Values
-- are cast to the common type of both relations first, so that their keys are comparable.
CREATE OR REPLACE MACRO __anon_keyed(__anon_tbl, __anon_other, __anon_call, __anon_kind) AS TABLE
SELECT
    *,
    __anon_key(COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
        OR __anon_binding_is_role(__anon_kind, __anon_c, __anon_call))) AS '__anon_key_\0'
FROM (
    (SELECT COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
        OR __anon_binding_is_role(__anon_kind, __anon_c, __anon_call))
     FROM (SELECT *, 0::TINYINT AS __anon_zero FROM query_table(__anon_other)) LIMIT 0)
    UNION ALL BY NAME
    (SELECT *, 0::TINYINT AS __anon_zero FROM query_table(__anon_tbl))
);

-- Group by the keys alone. valued: whether to return the value of each key too, as
-- __anon_value_<name>.
CREATE OR REPLACE MACRO __anon_key_groups(
    __anon_tbl, __anon_other, __anon_call, __anon_kind, __anon_valued := false
) AS TABLE
WITH
__anon_grouped AS (
    SELECT
        COLUMNS(lambda __anon_c: system.main.starts_with(__anon_c, '__anon_key_')),
        system.main.any_value(CASE WHEN __anon_valued THEN COLUMNS(lambda __anon_c:
            __anon_c = '__anon_zero' OR __anon_binding_is_role(__anon_kind, __anon_c, __anon_call)) END)
            AS '__anon_value_\0',
        system.main.count(*) AS __anon_count
    FROM __anon_keyed(__anon_tbl, __anon_other, __anon_call, __anon_kind)
    GROUP BY ALL
),
__anon_listed AS (SELECT system.main.list(COLUMNS(*)) FROM __anon_grouped)
SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_groups FROM __anon_listed;

-- Group by quasi-identifiers, and within each class by keys: __anon_held is the list of the keys of a
-- class, each with its __anon_count.
CREATE OR REPLACE MACRO __anon_class_groups(
    __anon_tbl, __anon_other, __anon_call, __anon_kind
) AS TABLE
WITH
__anon_paired AS (
    SELECT
        COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR system.main.starts_with(__anon_c, '__anon_key_')
            OR __anon_binding_is_role('quasi', __anon_c, __anon_call)),
        system.main.count(*) AS __anon_count
    FROM __anon_keyed(__anon_tbl, __anon_other, __anon_call, __anon_kind)
    GROUP BY ALL
),
__anon_packed AS (
    SELECT
        COLUMNS(lambda __anon_c: NOT system.main.starts_with(__anon_c, '__anon_key_')),
        system.main.struct_pack(*COLUMNS(lambda __anon_c: __anon_c = '__anon_count'
            OR system.main.starts_with(__anon_c, '__anon_key_'))) AS __anon_held
    FROM __anon_paired
),
__anon_grouped AS (
    SELECT
        * EXCLUDE (__anon_count, __anon_held),
        system.main.list(__anon_held) AS __anon_held,
        system.main.sum(__anon_count)::BIGINT AS __anon_count
    FROM __anon_packed
    GROUP BY ALL
),
__anon_listed AS (SELECT system.main.list(COLUMNS(*)) FROM __anon_grouped)
SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_groups FROM __anon_listed;

-- Group by quasi-identifiers and add the weights of each group, __anon_weight_<name>: their sum, the
-- least, and how many are numbers. weights: name of a column, or NULL.
CREATE OR REPLACE MACRO __anon_weight(x) AS system.main.struct_pack(
    total := system.main.sum(TRY_CAST(x AS DOUBLE)),
    least := system.main.min(TRY_CAST(x AS DOUBLE)),
    known := system.main.count(TRY_CAST(x AS DOUBLE)));
CREATE OR REPLACE MACRO __anon_weighted_groups(__anon_tbl, __anon_call, __anon_weights) AS TABLE
WITH
__anon_grouped AS (
    SELECT
        COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_binding_is_role('quasi', __anon_c, __anon_call)),
        system.main.count(*) AS __anon_count,
        __anon_weight(COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_fold(__anon_c) = __anon_fold(__anon_weights::VARCHAR)))
            AS '__anon_weight_\0'
    FROM (SELECT *, 0::TINYINT AS __anon_zero FROM query_table(__anon_tbl))
    GROUP BY ALL
),
__anon_listed AS (SELECT system.main.list(COLUMNS(*)) FROM __anon_grouped)
SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_groups FROM __anon_listed;

-- Group by quasi-identifiers and list the ids of the rows of each group, __anon_id_<name>, as text. id:
-- name of a column, or NULL.
CREATE OR REPLACE MACRO __anon_identified_groups(__anon_tbl, __anon_call, __anon_id) AS TABLE
WITH
__anon_grouped AS (
    SELECT
        COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_binding_is_role('quasi', __anon_c, __anon_call)),
        system.main.count(*) AS __anon_count,
        system.main.list(COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_fold(__anon_c) = __anon_fold(__anon_id::VARCHAR))::VARCHAR)
            AS '__anon_id_\0'
    FROM (SELECT *, 0::TINYINT AS __anon_zero FROM query_table(__anon_tbl))
    GROUP BY ALL
),
__anon_listed AS (SELECT system.main.list(COLUMNS(*)) FROM __anon_grouped)
SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_groups FROM __anon_listed;
