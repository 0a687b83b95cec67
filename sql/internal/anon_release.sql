-- Return the release of a relation. The core partitions the rows, prints the labels and checks them;
-- SQL joins the kept values of each row with the labels of its class.

CREATE OR REPLACE MACRO __anon_nothing(x) AS NULL;

-- Return the typed labels of one column, a list with an entry per class: STRUCT(min T, max T) for
-- numbers, dates and times, VARCHAR[] for text. probe, v: NULL of the raw column's type; probe selects
-- the overload, v keeps the exact type.
CREATE OR REPLACE MACRO __anon_ends_of(v, __anon_name, __anon_found) AS
    system.main.cast_to_type(
        system.main.map_extract_value(
            system.main.struct_extract(__anon_found, 'ends'), __anon_name),
        system.main.list_value(system.main.struct_pack(min := v, max := v)));
CREATE OR REPLACE MACRO __anon_sets_of(__anon_name, __anon_found) AS
    system.main.map_extract_value(system.main.struct_extract(__anon_found, 'sets'), __anon_name);
CREATE OR REPLACE MACRO __anon_typed_of
    (probe, v, n, f) AS __anon_sets_of(n, f),
    (probe VARCHAR, v, n, f) AS __anon_sets_of(n, f),
    (probe BOOLEAN, v, n, f) AS __anon_sets_of(n, f),
    (probe UUID, v, n, f) AS __anon_sets_of(n, f),
    (probe DOUBLE, v, n, f) AS __anon_ends_of(v, n, f),
    (probe TIME, v, n, f) AS __anon_ends_of(v, n, f),
    (probe TIME_NS, v, n, f) AS __anon_ends_of(v, n, f),
    (probe TIMESTAMP, v, n, f) AS __anon_ends_of(v, n, f),
    (probe TIMESTAMPTZ, v, n, f) AS __anon_ends_of(v, n, f);

-- Return the means, medians or midpoints of one column of numbers, dates or times, a list with an entry per class,
-- and the labels of any other column. probe, v, n, f: as for __anon_typed_of. d: of the type of the
-- result for numbers.
CREATE OR REPLACE MACRO __anon_labels_of(__anon_name, __anon_found) AS
    system.main.map_extract_value(
        system.main.struct_extract(__anon_found, 'labels'), __anon_name);
CREATE OR REPLACE MACRO __anon_values_of(v, n, f) AS
    system.main.cast_to_type(__anon_labels_of(n, f), system.main.list_value(v));
CREATE OR REPLACE MACRO __anon_value_of
    (probe, v, d, n, f) AS __anon_labels_of(n, f),
    (probe VARCHAR, v, d, n, f) AS __anon_labels_of(n, f),
    (probe BOOLEAN, v, d, n, f) AS __anon_labels_of(n, f),
    (probe UUID, v, d, n, f) AS __anon_labels_of(n, f),
    (probe DOUBLE, v, d, n, f) AS __anon_values_of(d, n, f),
    (probe TIME, v, d, n, f) AS __anon_values_of(v, n, f),
    (probe TIME_NS, v, d, n, f) AS __anon_values_of(v, n, f),
    (probe TIMESTAMP, v, d, n, f) AS __anon_values_of(v, n, f),
    (probe TIMESTAMPTZ, v, d, n, f) AS __anon_values_of(v, n, f);

-- Return one row of NULLs in the types of the columns with a role, and __anon_blank.
CREATE OR REPLACE MACRO __anon_nulls(__anon_tbl, __anon_role, __anon_call) AS TABLE
SELECT system.main.any_value(COLUMNS(lambda __anon_c: __anon_c = '__anon_blank'
    OR __anon_binding_is_role(__anon_role, __anon_c, __anon_call)))
FROM (SELECT *, 0 AS __anon_blank FROM query_table(__anon_tbl) LIMIT 0);

-- Return no row of the released columns in the order of the relation.
CREATE OR REPLACE MACRO __anon_in_order(__anon_tbl, __anon_call) AS TABLE
SELECT __anon_nothing(COLUMNS(lambda __anon_c: __anon_binding_is_role('released', __anon_c, __anon_call)))
FROM (SELECT *, 0 AS __anon_blank FROM query_table(__anon_tbl) LIMIT 0);

-- Return the row __anon_checked of the query that calls this, with the labels of each quasi-identifier
-- in its __anon_probes, a list with an entry per class.
CREATE OR REPLACE MACRO __anon_labelled(__anon_format) AS TABLE
WITH
__anon_labels AS (
    SELECT
        __anon_labels_of(system.main.alias(COLUMNS(__anon_probes.*)), __anon_found),
        __anon_checked.*
    FROM __anon_checked, __anon_probes
),
__anon_typed AS (
    SELECT
        __anon_typed_of(
            COLUMNS(__anon_probes.*), COLUMNS(__anon_probes.*),
            system.main.alias(COLUMNS(__anon_probes.*)), __anon_found),
        __anon_checked.*
    FROM __anon_checked, __anon_probes
),
__anon_means AS (
    SELECT
        __anon_value_of(
            COLUMNS(__anon_probes.*), COLUMNS(__anon_probes.*), 0::DOUBLE,
            system.main.alias(COLUMNS(__anon_probes.*)), __anon_found),
        __anon_checked.*
    FROM __anon_checked, __anon_probes
),
__anon_medians AS (
    SELECT
        __anon_value_of(
            COLUMNS(__anon_probes.*), COLUMNS(__anon_probes.*), COLUMNS(__anon_probes.*),
            system.main.alias(COLUMNS(__anon_probes.*)), __anon_found),
        __anon_checked.*
    FROM __anon_checked, __anon_probes
)
FROM query_table(CASE __anon_format
    WHEN 'typed' THEN '__anon_typed' WHEN 'median' THEN '__anon_medians'
    WHEN 'mean' THEN '__anon_means' WHEN 'midpoint' THEN '__anon_means'
    ELSE '__anon_labels' END);

CREATE OR REPLACE MACRO __anon_release(
    __anon_function, __anon_tbl, __anon_k, __anon_call, __anon_format, __anon_options,
    __anon_hierarchy := NULL, __anon_from := NULL
) AS TABLE
WITH
-- One row, as __anon_checked, which DuckDB does not copy because each is read once. The first one, so
-- that the name of the relation means none of those below.
__anon_given AS (
    FROM __anon_table(
        __anon_function, __anon_tbl, __anon_k, __anon_call, __anon_options, __anon_hierarchy,
        'kept', __anon_from := __anon_from)
),
__anon_probes AS MATERIALIZED (FROM __anon_nulls(__anon_tbl, 'quasi', __anon_call)),
__anon_order AS MATERIALIZED (FROM __anon_in_order(__anon_tbl, __anon_call)),
-- The core compares the columns that were picked while the statement was bound with the roles.
__anon_bound AS (
    SELECT * FROM
        (SELECT system.main.struct_keys(system.main.struct_pack(*COLUMNS(*))) AS __anon_shown_names
         FROM __anon_probes),
        (SELECT system.main.struct_keys(system.main.struct_pack(*COLUMNS(*))) AS __anon_order_names
         FROM (SELECT system.main.any_value(COLUMNS(*)) FROM __anon_order))
),
__anon_checked AS (
    SELECT
        __anon_release_result(
            __anon_buffer, __anon_row_numbers(__anon_rows), __anon_path_rows,
            system.main.struct_keys(
                system.main.struct_extract(system.main.list_extract(__anon_rows, 1), 'kept')),
            __anon_shown_names, __anon_order_names, __anon_looks) AS __anon_found,
        __anon_rows, __anon_buffer
    FROM __anon_given, __anon_bound
),
-- A row for each released one: its place in the list of rows and its class.
__anon_places AS (
    SELECT
        * EXCLUDE (__anon_found),
        unnest(system.main.struct_extract(__anon_found, 'position')) AS __anon_at,
        unnest(system.main.struct_extract(__anon_found, 'class')) AS __anon_class,
        system.main.struct_extract(__anon_found, 'buffer') AS __anon_looked_at
    FROM __anon_labelled(__anon_format)
)
-- The first branch has no rows; it sets the order of the columns.
(FROM __anon_order LIMIT 0)
UNION ALL BY NAME
(SELECT COLUMNS('(?s)^(?:__anon_kept_)?(.*)$') AS '\1'
 FROM (SELECT * EXCLUDE (__anon_kept___anon_zero) FROM (
    SELECT
        unnest(system.main.struct_extract(__anon_row, 'kept')),
        * EXCLUDE (__anon_row, __anon_blank)
    FROM (
        SELECT
            system.main.list_extract(__anon_rows, CASE
                WHEN __anon_buffer = __anon_looked_at THEN __anon_at
                ELSE system.main.error(system.main.concat(
                    __anon_function, ': the rows released must be those that were checked; ',
                    'nothing was released; please report this'))
            END) AS __anon_row,
            system.main.list_extract(COLUMNS(* EXCLUDE (
                __anon_rows, __anon_at, __anon_class, __anon_looked_at, __anon_buffer)),
                __anon_class)
        FROM __anon_places))));
