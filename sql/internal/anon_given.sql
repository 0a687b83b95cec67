-- The argument of a measure, one struct for its two relations: groups and domains, no rows.

-- Return one struct with the SQL type of each column of a relation, without reading its rows.
CREATE OR REPLACE MACRO __anon_types(__anon_tbl) AS TABLE
SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_types
FROM (
    SELECT system.main.typeof(system.main.any_value(COLUMNS(*)))
    FROM (FROM query_table(__anon_tbl) LIMIT 0)
);

-- Return the distinct values of text, and of what is grouped as text; NULL for other columns.
CREATE OR REPLACE MACRO __anon_words
    (x) AS NULL::VARCHAR[],
    (x VARIANT) AS NULL::VARCHAR[],
    (x VARCHAR) AS system.main.list(DISTINCT x::VARCHAR),
    (x BOOLEAN) AS system.main.list(DISTINCT x::VARCHAR),
    (x UUID) AS system.main.list(DISTINCT x::VARCHAR);

-- Return the minimum, the maximum, the distinct values of text, and the number of NULLs of a column.
CREATE OR REPLACE MACRO __anon_summary(x) AS system.main.struct_pack(
    low := system.main.min(x),
    high := system.main.max(x),
    words := __anon_words(x),
    nulls := system.main.count(*) - system.main.count(x));

-- Return one row: the summary of each column of a kind (see __anon_binding_is_role) by name, and the
-- row count.
CREATE OR REPLACE MACRO __anon_domains(__anon_tbl, __anon_call, __anon_kind) AS TABLE
WITH __anon_summed AS (
    SELECT
        __anon_summary(COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_binding_is_role(__anon_kind, __anon_c, __anon_call))),
        system.main.count(*) AS __anon_rows
    FROM (SELECT *, 0::TINYINT AS __anon_zero FROM query_table(__anon_tbl))
)
SELECT
    system.main.struct_pack(*COLUMNS(* EXCLUDE (__anon_rows))) AS __anon_domains, __anon_rows
FROM __anon_summed;

-- Return the struct of __anon_scope for a measure. Identifiers need no role: nothing is released.
CREATE OR REPLACE MACRO __anon_measure_call(__anon_raw, __anon_quasi, __anon_sensitive) AS
    __anon_scope(__anon_raw, system.main.struct_pack(
        quasi := __anon_quasi, sensitive := __anon_sensitive, whole := true));

-- The same where a '*' means the columns that it means in the release.
CREATE OR REPLACE MACRO __anon_roles_call(
    __anon_raw, __anon_quasi, __anon_sensitive, __anon_identifiers, __anon_keep, __anon_exclude,
    __anon_entity
) AS
    __anon_scope(__anon_raw, system.main.struct_pack(
        quasi := __anon_quasi, sensitive := __anon_sensitive, identifiers := __anon_identifiers,
        keep := __anon_keep, exclude := __anon_exclude, entity := __anon_entity));

-- Return a list of names as it is, and one name as a list.
CREATE OR REPLACE MACRO __anon_names(x) AS CASE
    WHEN system.main.typeof(x) = 'VARCHAR' THEN system.main.list_value(x::VARCHAR)
    ELSE TRY_CAST(x AS VARCHAR[])
END;

-- A function that measures a release also measures one table, whose cells are values and not labels:
-- l_diversity('t', 'illness'). Return whether the second argument is no release but NULL, or names
-- sensitive columns of the first.
CREATE OR REPLACE MACRO __anon_alone(__anon_raw, __anon_released, __anon_sensitive) AS
    __anon_binding_is_alone(
        __anon_scope(__anon_raw, NULL), __anon_names(__anon_released), __anon_sensitive IS NULL);

-- Return the relation whose classes are measured. __anon_is_alone: what __anon_alone returns.
CREATE OR REPLACE MACRO __anon_measured(__anon_raw, __anon_released, __anon_is_alone) AS
    CASE WHEN __anon_is_alone THEN __anon_raw ELSE __anon_released::VARCHAR END;

-- The same as __anon_measure_call, where the second argument may name sensitive columns.
CREATE OR REPLACE MACRO __anon_level_call(
    __anon_raw, __anon_released, __anon_quasi, __anon_sensitive
) AS __anon_scope(__anon_raw, system.main.struct_pack(
    quasi := __anon_quasi, sensitive := __anon_sensitive, whole := true,
    second := CASE WHEN __anon_alone(__anon_raw, __anon_released, __anon_sensitive)
        THEN __anon_names(__anon_released) END));

-- Return one row, __anon_given. __anon_release_groups: name of a CTE with the result of a macro of
-- anon_groups.sql or of __anon_tally on the release. is_alone: whether the release is the raw table,
-- whose cells are values.
CREATE OR REPLACE MACRO __anon_given(
    __anon_raw, __anon_released, __anon_call, __anon_hierarchy, __anon_release_groups,
    __anon_is_alone := false
) AS TABLE
SELECT system.main.struct_pack(
    call := __anon_call,
    connection := system.main.current_connection_id(),
    seen := __anon_seen(__anon_raw || ' ' || __anon_released),
    released := __anon_released,
    alone := __anon_is_alone,
    time_zone := system.main.current_setting('TimeZone'),
    types := __anon_r.__anon_types,
    released_types := __anon_s.__anon_types,
    domains := __anon_domains,
    rows := __anon_rows,
    paths := __anon_path_rows,
    groups := __anon_groups) AS __anon_given
FROM
    __anon_types(__anon_raw) AS __anon_r,
    __anon_types(__anon_released) AS __anon_s,
    __anon_domains(
        __anon_raw, __anon_call, CASE WHEN __anon_is_alone THEN 'none' ELSE 'quasi' END),
    __anon_path_rows(__anon_hierarchy),
    query_table(__anon_release_groups);

-- Return one row, __anon_found: every measure of information loss. k: for cavg. ncp: the form of NCP
-- for text. adds: whether the release may have more rows than the raw table. weights: of gcp. own:
-- whether to count the rows of the release alone.
CREATE OR REPLACE MACRO __anon_measures(
    __anon_function, __anon_raw, __anon_released, __anon_quasi, __anon_hierarchy,
    __anon_k := 5, __anon_ncp := 'share', __anon_adds := false, __anon_weights := NULL,
    __anon_own := false, __anon_is_alone := false
) AS TABLE
WITH __anon_tallied AS (
    FROM __anon_tally(__anon_released, __anon_measure_call(__anon_raw, __anon_quasi, NULL))
)
SELECT __anon_measures_all_measures(
    __anon_function, __anon_given, __anon_k, __anon_ncp, __anon_adds, __anon_weights,
    __anon_own) AS __anon_found
FROM __anon_given(
    __anon_raw, __anon_released, __anon_measure_call(__anon_raw, __anon_quasi, NULL),
    __anon_hierarchy, '__anon_tallied', __anon_is_alone := __anon_is_alone);

-- Return one row: the columns of utility.
CREATE OR REPLACE MACRO __anon_utility(
    __anon_function, __anon_raw, __anon_released, __anon_k, __anon_quasi, __anon_hierarchy,
    __anon_weights, __anon_own := false
) AS TABLE
SELECT
    __anon_found.rows, __anon_found.released_rows, __anon_found.suppressed, __anon_found.classes,
    __anon_found.smallest_class, __anon_found.dm, __anon_found.dm_star, __anon_found.cavg,
    __anon_found.gcp, __anon_found.iloss, __anon_found.suppression_rate
FROM __anon_measures(
    __anon_function, __anon_raw, __anon_released, __anon_quasi, __anon_hierarchy,
    __anon_k := __anon_k, __anon_weights := __anon_weights, __anon_own := __anon_own);

-- Return whether the hashes of a relation fit into memory, or an error.
CREATE OR REPLACE MACRO __anon_fits(__anon_function, __anon_tbl) AS TABLE
SELECT __anon_audit_hashes_fit(
    __anon_function, __anon_types, system.main.count(*),
    system.main.current_setting('memory_limit')) AS __anon_fit
FROM __anon_types(__anon_tbl), (SELECT 1 AS __anon_one FROM query_table(__anon_tbl))
GROUP BY __anon_types;
