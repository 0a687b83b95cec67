-- Look at every column of one relation, whatever its roles.

-- Return whether a column has as many values as whole numbers lie between the least and the greatest.
CREATE OR REPLACE MACRO __anon_consecutive(x) AS coalesce(
    system.main.count(TRY_CAST(x AS DOUBLE)) = system.main.count(x)
    AND system.main.bool_and(TRY_CAST(x AS DOUBLE) = system.main.floor(TRY_CAST(x AS DOUBLE)))
    AND system.main.max(TRY_CAST(x AS DOUBLE)) - system.main.min(TRY_CAST(x AS DOUBLE)) + 1
        = system.main.count(x), false);

-- Return a text without the blanks around it: spaces of every width, tabs, line ends, and signs of no
-- width.
CREATE OR REPLACE MACRO __anon_trimmed(x) AS system.main.trim(x, system.main.array_to_string(
    system.main.list_transform([
        9, 10, 11, 12, 13, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200,
        8201, 8202, 8203, 8232, 8233, 8239, 8287, 8288, 12288, 65279
    ], lambda __anon_code: system.main.chr(__anon_code)), ''));

-- Return whether a value is a text with blanks around it, NULL if it is NULL or not a text.
CREATE OR REPLACE MACRO __anon_has_blanks(x) AS CASE
    WHEN system.main.regexp_full_match(system.main.typeof(x), '(?s)VARCHAR|ENUM\(.*\)')
    THEN __anon_trimmed(x::VARCHAR) <> x::VARCHAR
END;

-- Return a column as hashes of its values, the number of its NULLs and of its texts with blanks
-- around them, whether it numbers rows, and a sample of texts and numbers: those of the rows with
-- the smallest hashes.
CREATE OR REPLACE MACRO __anon_looked(x, __anon_row) AS system.main.struct_pack(
    marks := system.main.list(__anon_audit_mark(x)),
    nulls := system.main.count(*) - system.main.count(x),
    blanks := system.main.count(*) FILTER (__anon_has_blanks(x)),
    consecutive := __anon_consecutive(x),
    sample := system.main.list_transform(
        system.main.arg_min(x, __anon_row, 2000) FILTER (x IS NOT NULL),
        lambda __anon_v: CASE WHEN system.main.regexp_full_match(system.main.typeof(__anon_v),
            '(?s)U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE|DECIMAL.*|VARCHAR|JSON|ENUM\(.*\)')
            THEN system.main."left"(__anon_v::VARCHAR, 200) END));
CREATE OR REPLACE MACRO __anon_marked(x) AS system.main.list(__anon_audit_mark(x));

-- Return whether the hashes of a relation fit into memory, or an error.
CREATE OR REPLACE MACRO __anon_fits(__anon_function, __anon_tbl) AS TABLE
SELECT __anon_audit_hashes_fit(
    __anon_function, __anon_types, system.main.count(*),
    system.main.current_setting('memory_limit')) AS __anon_fit
FROM __anon_types(__anon_tbl), (SELECT 1 AS __anon_one FROM query_table(__anon_tbl))
GROUP BY __anon_types;
