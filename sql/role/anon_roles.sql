-- The role of every column of a table, and where it is declared.
--
-- tbl: name of the relation. quasi, sensitive, identifiers, keep, exclude: as in a release, to see what
--   a call would make of them.
-- Returns: column_name, column_type, role ('identifier', 'quasi', 'sensitive', 'keep', 'exclude' or
--   NULL),
--   source ('comment', 'call' or NULL), distinct_values, nulls.
-- Errors: an unknown tag, two roles for one column, an unknown column.
-- Example: SELECT * FROM anon_roles('people', quasi := ['age', 'city']);
CREATE OR REPLACE MACRO anon_roles(
    tbl, quasi := NULL, sensitive := NULL, identifiers := NULL, keep := NULL, exclude := NULL
) AS TABLE
WITH
__anon_assigned AS MATERIALIZED (
    SELECT __anon_methods_roles_of(
        __anon_types, __anon_scope(tbl, system.main.struct_pack(quasi := quasi, sensitive := sensitive, identifiers := identifiers, keep := keep, exclude := exclude)), __anon_seen(tbl))
        AS __anon_roles
    FROM __anon_schema(tbl, 1)
),
-- In the order of the columns, as the roles are.
__anon_counts AS (
    SELECT list_value(*COLUMNS(*)) AS __anon_count
    FROM (
        SELECT __anon_counted(COLUMNS(*))
        FROM (SELECT *, 0 AS __anon_zero FROM query_table(tbl)))
),
__anon_listed AS (
    SELECT
        unnest(__anon_roles) AS __anon_role,
        unnest(__anon_count[:len(__anon_roles)]) AS __anon_count
    FROM __anon_assigned, __anon_counts
)
SELECT
    __anon_role.name AS column_name,
    __anon_role.type AS column_type,
    __anon_role.role AS role,
    __anon_role.source AS source,
    __anon_count.distinct_values AS distinct_values,
    __anon_count.nulls AS nulls
FROM __anon_listed;
