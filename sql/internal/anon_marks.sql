-- Look at every column of one relation, whatever its roles.

-- Return whether a column has as many values as whole numbers lie between the least and the greatest.
CREATE OR REPLACE MACRO __anon_consecutive(x) AS coalesce(
    system.main.count(TRY_CAST(x AS DOUBLE)) = system.main.count(x)
    AND system.main.bool_and(TRY_CAST(x AS DOUBLE) = system.main.floor(TRY_CAST(x AS DOUBLE)))
    AND system.main.max(TRY_CAST(x AS DOUBLE)) - system.main.min(TRY_CAST(x AS DOUBLE)) + 1
        = system.main.count(x), false);

-- Return a column as hashes of its values, the number of its NULLs, whether it numbers rows, and a
-- sample of texts and integers: those of the rows with the smallest hashes.
CREATE OR REPLACE MACRO __anon_looked(x, __anon_row) AS system.main.struct_pack(
    marks := system.main.list(__anon_audit_mark(x)),
    nulls := system.main.count(*) - system.main.count(x),
    consecutive := __anon_consecutive(x),
    sample := system.main.list_transform(
        system.main.arg_min(x, __anon_row, 2000) FILTER (x IS NOT NULL),
        lambda __anon_v: CASE WHEN system.main.regexp_full_match(system.main.typeof(__anon_v),
            '(?s)U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|VARCHAR|JSON|ENUM\(.*\)')
            THEN system.main."left"(__anon_v::VARCHAR, 200) END));
CREATE OR REPLACE MACRO __anon_marked(x) AS system.main.list(__anon_audit_mark(x));

-- Return whether the hashes of a relation fit into memory, or an error.
CREATE OR REPLACE MACRO __anon_fits(__anon_function, __anon_tbl) AS TABLE
SELECT __anon_audit_hashes_fit(
    __anon_function, __anon_types, system.main.count(*),
    system.main.current_setting('memory_limit')) AS __anon_fit
FROM __anon_types(__anon_tbl), (SELECT 1 AS __anon_one FROM query_table(__anon_tbl))
GROUP BY __anon_types;
