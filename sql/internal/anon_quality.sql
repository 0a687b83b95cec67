-- What data_quality looks at in one column: how many NULLs, and the other values of a text, number,
-- date or time.
CREATE OR REPLACE MACRO __anon_profile(x) AS system.main.struct_pack(
    nulls := system.main.count(*) - system.main.count(x),
    held := system.main.list(x) FILTER (x IS NOT NULL AND system.main.regexp_full_match(
        system.main.typeof(x),
        '(?s)U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|DECIMAL\(.*\)|FLOAT|DOUBLE|DATE|TIME'
        '|TIME_NS|TIMESTAMP(_S|_MS|_NS| WITH TIME ZONE)?|VARCHAR|JSON|ENUM\(.*\)')));
