-- A release: one way through for every method, and no way round the check.
--
-- plan ─► take the rows in ─► partition ─► print each distinct label ─► check the printed labels
-- ─► rows. Each step is evaluated once. What is released as it is stays here as a list, and the last
-- step picks each row's values and its class's labels out of lists.

CREATE OR REPLACE MACRO __anon_common(
    __anon_format, __anon_suppressed, __anon_seed,
    __anon_l := 1, __anon_l_kind := 'distinct', __anon_c := 3, __anon_t := 1
) AS {
    'format': __anon_format,
    'suppressed': __anon_suppressed,
    'seed': __anon_seed,
    'l': __anon_l,
    'l_kind': __anon_l_kind,
    'c': __anon_c,
    't': __anon_t,
    'threads': current_setting('threads'),
    'memory_limit': current_setting('memory_limit')
};

CREATE OR REPLACE MACRO __anon_nothing(x) AS NULL;
CREATE OR REPLACE MACRO __anon_mark(x) AS if(x IS NULL, NULL, hash(x));
CREATE OR REPLACE MACRO __anon_column(v, part) AS {
    'v': v, 'low': part.low, 'high': part.high,
    'texts': part.texts, 'sets': part.sets};

-- from: where the rows come from, the table unless a method adds rows to it; they then have
-- __anon_made, 1 for those that were added, which count towards nothing.
CREATE OR REPLACE MACRO __anon_release(
    __anon_function, __anon_tbl, __anon_k, __anon_call, __anon_common_, __anon_format, __anon_options,
    __anon_hierarchy := NULL, __anon_from := NULL
) AS TABLE
WITH
__anon_planned AS MATERIALIZED (
    SELECT
        *, __anon_open(__anon_plan, current_connection_id(), current_query_id())
            AS __anon_intake
    FROM (
        SELECT __anon_plan(
            __anon_function, __anon_types, __anon_k_given, __anon_call, __anon_seen(__anon_tbl),
            __anon_common_, __anon_options) AS __anon_plan,
            __anon_types
        FROM __anon_schema(__anon_tbl, __anon_k))
),
__anon_grown AS MATERIALIZED (FROM __anon_trees(__anon_tbl, __anon_call, __anon_hierarchy)),
-- What the partition and the check need of a row is taken as it is read. The rest stays here:
-- numbers, for labels to be printed from, and what is released as it is.
__anon_read AS (
    SELECT
        __anon_take(__anon_intake, struct_pack(*COLUMNS(lambda __anon_c:
            __anon_is('taken', __anon_c, __anon_call)
            OR __anon_c IN ('__anon_hash', '__anon_made') OR __anon_c[:12] = '__anon_mark_'
            OR __anon_c[:11] = '__anon_key_'))) AS __anon_taken,
        COLUMNS(lambda __anon_c: __anon_c = '__anon_blank'
            OR __anon_is('quasi', __anon_c, __anon_call)),
        struct_pack(*COLUMNS(lambda __anon_c: __anon_is('kept', __anon_c, __anon_call)))
            AS __anon_kept,
        __anon_intake, __anon_plan, __anon_trees
    FROM (
        SELECT
            *,
            __anon_mark(COLUMNS(lambda __anon_c: __anon_is('loose', __anon_c, __anon_call)))
                AS '__anon_mark_\0',
            __anon_key(COLUMNS(lambda __anon_c: __anon_c = '__anon_nobody'
                OR __anon_is('protected', __anon_c, __anon_call))) AS '__anon_key_\0'
        FROM (
            SELECT *, {'__anon_none': 0} AS __anon_nobody, 0::TINYINT AS __anon_blank
            FROM __anon_hashed(coalesce(__anon_from, __anon_tbl), __anon_call))),
        __anon_planned, __anon_grown
),
__anon_lists AS (
    SELECT
        list(COLUMNS(* EXCLUDE (
            __anon_taken, __anon_kept, __anon_intake, __anon_plan, __anon_trees))),
        list({'kept': __anon_kept, 'taken': __anon_taken}) AS __anon_rows,
        -- carried along with the lists, since a join would copy those
        any_value(__anon_intake) FILTER (__anon_taken = 0) AS __anon_intake,
        any_value(__anon_plan) FILTER (__anon_taken = 0) AS __anon_plan,
        any_value(__anon_trees) FILTER (__anon_taken = 0) AS __anon_trees
    FROM __anon_read
),
-- __anon_blank and __anon_zero ride along, so that a call without quasi-identifiers reaches the
-- plan's error and one without other columns has something to pick.
__anon_parts AS MATERIALIZED (
    SELECT
        __anon_partition(
            __anon_plan, __anon_intake,
            list_transform(__anon_rows, lambda __anon_r: __anon_r.taken),
            __anon_options, __anon_trees) AS __anon_part,
        __anon_slim(COLUMNS(* EXCLUDE (
            __anon_rows, __anon_intake, __anon_plan, __anon_trees))),
        __anon_rows, __anon_intake
    FROM __anon_lists
),
-- A row for each label of the column that has most of them; the others' run out with NULL.
__anon_columns AS (
    SELECT * EXCLUDE (__anon_count), unnest(range(1, __anon_count + 1)) AS __anon_at
    FROM (
        SELECT
            __anon_column(
                COLUMNS(* EXCLUDE (__anon_part)),
                __anon_part.columns[alias(COLUMNS(* EXCLUDE (__anon_part)))]),
            __anon_part.labels AS __anon_count
        FROM (SELECT * EXCLUDE (__anon_rows, __anon_intake) FROM __anon_parts))
),
__anon_labels AS (
    SELECT __anon_as_label(COLUMNS(* EXCLUDE (__anon_at)), __anon_at), __anon_at
    FROM __anon_columns WHERE __anon_format IS DISTINCT FROM 'typed'
),
__anon_types AS (
    SELECT __anon_as_typed(COLUMNS(* EXCLUDE (__anon_at)), __anon_at), __anon_at
    FROM __anon_columns WHERE __anon_format = 'typed'
),
__anon_cells AS (
    (SELECT COLUMNS(lambda __anon_c: __anon_format IS DISTINCT FROM 'typed' OR __anon_c = '__anon_at')
     FROM __anon_labels)
    UNION ALL BY NAME
    (SELECT COLUMNS(lambda __anon_c: __anon_format = 'typed' OR __anon_c = '__anon_at')
     FROM __anon_types)
),
__anon_printed AS MATERIALIZED (
    SELECT
        list(__anon_shown(COLUMNS(* EXCLUDE (__anon_at)))),
        list(__anon_read(COLUMNS(* EXCLUDE (__anon_at)))) AS '__anon_read_\0',
        list(hash('', COLUMNS(* EXCLUDE (__anon_at)))) AS '__anon_print_\0',
        list(__anon_at) AS __anon_at
    FROM __anon_cells
),
__anon_reads AS (
    SELECT struct_pack(*COLUMNS(lambda __anon_c: __anon_c[:7] = '__anon_')) AS __anon_read
    FROM __anon_printed
),
__anon_texts AS (
    SELECT COLUMNS(lambda __anon_c: __anon_c = '__anon_blank' OR __anon_c[:7] <> '__anon_')
    FROM __anon_printed
),
-- All of them in the source's order.
__anon_order AS (
    SELECT __anon_nothing(COLUMNS(lambda __anon_c: __anon_is('released', __anon_c, __anon_call)))
    FROM (SELECT unnest(__anon_types) FROM __anon_planned)
),
-- The columns that were picked while the statement was bound, by name: the check compares them
-- with the roles, since a comment may have changed in between.
__anon_kept_names AS (
    SELECT struct_pack(*COLUMNS(*)) AS __anon_kept_name
    FROM (
        SELECT any_value(__anon_nothing(COLUMNS(*)))
        FROM (SELECT unnest(list_extract(__anon_rows, 0).kept) FROM __anon_parts) WHERE false)
),
__anon_shown_names AS (
    SELECT struct_pack(*COLUMNS(*)) AS __anon_shown_name
    FROM (SELECT any_value(__anon_nothing(COLUMNS(__anon_texts.*))) FROM __anon_texts WHERE false)
),
__anon_order_names AS (
    SELECT struct_pack(*COLUMNS(*)) AS __anon_order_name FROM __anon_order
),
__anon_held AS (
    SELECT
        struct_pack(*COLUMNS(* EXCLUDE (__anon_part, __anon_rows, __anon_intake)))
            AS __anon_quasi,
        __anon_part
    FROM __anon_parts
),
__anon_checked AS MATERIALIZED (
    SELECT __anon_check(
        __anon_plan, __anon_intake, __anon_quasi, __anon_part, __anon_read,
        __anon_kept_name, __anon_shown_name, __anon_order_name, __anon_trees) AS __anon_rows
    FROM __anon_held, __anon_planned, __anon_grown, __anon_reads,
        __anon_kept_names, __anon_shown_names, __anon_order_names
),
-- The label of each class.
__anon_shown AS (
    SELECT list_select(
        COLUMNS(__anon_texts.*), __anon_rows.labels[alias(COLUMNS(__anon_texts.*))])
    FROM __anon_texts, __anon_checked
),
__anon_places AS (
    SELECT
        unnest(__anon_rows.position) AS __anon_at,
        unnest(__anon_rows.class) AS __anon_class,
        __anon_rows.intake AS __anon_looked_at
    FROM __anon_checked
)
-- The first branch has no row: it keeps the source's order of columns.
(FROM __anon_order LIMIT 0)
UNION ALL BY NAME
(SELECT * EXCLUDE (__anon_zero, __anon_blank)
 FROM (
    SELECT unnest(__anon_row.kept), * EXCLUDE (__anon_row)
    FROM (
        SELECT
            list_extract(__anon_rows, CASE
                WHEN __anon_intake = __anon_looked_at THEN __anon_at
                ELSE error(__anon_function || ': the rows released must be those that were '
                    || 'checked, got others; nothing was released; please report this')
            END) AS __anon_row,
            list_extract(COLUMNS(__anon_shown.*), __anon_class)
        FROM __anon_places, (SELECT __anon_rows, __anon_intake FROM __anon_parts), __anon_shown)));
