-- What measures of information loss need of a release: its labels and the sizes of its classes, counted.

-- Return whether a released value is suppressed: '*' as a label, NULL in every other format.
CREATE OR REPLACE MACRO __anon_starred
    (x) AS x IS NULL,
    (x VARIANT) AS x IS NULL,
    (x VARCHAR) AS coalesce(x::VARCHAR = '*', false);

-- Return the value of a column in the rows of its own name, NULL in others; and a list of these rows.
CREATE OR REPLACE MACRO __anon_own(x, __anon_attribute) AS
    CASE WHEN system.main.alias(x) = __anon_attribute THEN x END;
CREATE OR REPLACE MACRO __anon_own_list(x, __anon_attribute, __anon_rows, __anon_classes) AS
    system.main.list(system.main.struct_pack(
        label := x, rows := __anon_rows, classes := __anon_classes))
    FILTER (system.main.alias(x) = __anon_attribute);

-- Return one row with one struct of lists: of each quasi-identifier its labels, each with its rows and
-- classes, and as __anon_sizes the sizes of classes. DuckDB groups, and spills what does not fit into
-- memory. A list is NULL for an empty relation. __anon_zero: see anon_groups.sql.
CREATE OR REPLACE MACRO __anon_tally(__anon_tbl, __anon_call) AS TABLE
WITH
__anon_grouped AS MATERIALIZED (
    SELECT
        COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_binding_is_role('quasi', __anon_c, __anon_call)),
        system.main.count(*) AS __anon_count
    FROM (SELECT *, NULL::TINYINT AS __anon_zero FROM query_table(__anon_tbl))
    GROUP BY ALL
),
__anon_attributes AS (
    SELECT system.main.unnest(system.main.struct_keys(system.main.struct_pack(
        *COLUMNS(* EXCLUDE (__anon_count))))) AS __anon_attribute
    FROM (SELECT system.main.any_value(COLUMNS(*)) FROM (FROM __anon_grouped LIMIT 0))
),
__anon_counted AS (
    SELECT
        __anon_attribute,
        __anon_own(COLUMNS(* EXCLUDE (__anon_attribute, __anon_count)), __anon_attribute) AS '\0',
        system.main.sum(__anon_count)::BIGINT AS __anon_rows,
        system.main.count(*) AS __anon_classes
    FROM __anon_grouped, __anon_attributes
    WHERE __anon_attribute <> '__anon_zero'
    GROUP BY ALL
),
__anon_listed AS (
    SELECT __anon_own_list(
        COLUMNS(* EXCLUDE (__anon_attribute, __anon_rows, __anon_classes)), __anon_attribute,
        __anon_rows, __anon_classes) AS '\0'
    FROM __anon_counted
),
__anon_stars AS (
    SELECT
        __anon_count,
        __anon_starred(COLUMNS(* EXCLUDE (__anon_count))) AS '__anon_star_\0',
        COLUMNS(* EXCLUDE (__anon_count)) IS NULL AS '__anon_null_\0'
    FROM __anon_grouped
),
__anon_of_sizes AS (
    SELECT
        __anon_count,
        system.main.list_contains(system.main.list_value(*COLUMNS(lambda __anon_c:
            system.main.starts_with(__anon_c, '__anon_star_'))), false) AS __anon_legible,
        system.main.list_contains(system.main.list_value(*COLUMNS(lambda __anon_c:
            system.main.starts_with(__anon_c, '__anon_null_'))), false) AS __anon_known,
        system.main.count(*) AS __anon_classes
    FROM __anon_stars
    GROUP BY ALL
),
__anon_sized AS (
    SELECT system.main.list(system.main.struct_pack(
        size := __anon_count, suppressed := NOT __anon_legible, "null" := NOT __anon_known,
        classes := __anon_classes))
        AS __anon_sizes
    FROM __anon_of_sizes
)
SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_groups FROM __anon_listed, __anon_sized;
