-- The hash of a row, on which the order of rows, vantage points and samples of a release depend, and
-- hashes of values. DuckDB calls its hash internal: no other file of SQL calls it, and
-- tests/contracts holds hashes of values of each type.
--
-- row_hash in core/duckdb_internals/hashing.py is the same hash of Arrow tables. It knows the types of
-- the columns when it writes its SQL. A macro must choose by overloads and typeof() instead, because
-- no Python runs before DuckDB has bound its statement.

-- Return the version of the row hash. It rises when the hash of any row changes.
CREATE OR REPLACE MACRO __anon_row_hash_version() AS 2;

-- Return text as its bytes, and any other value as it is: hash() of text follows a collation, by which
-- values that print differently can be equal.
CREATE OR REPLACE MACRO __anon_bytes
    (x) AS x,
    (x VARCHAR) AS system.main.encode(x);

-- Return the hash of a value, NULL for NULL. That of 128 bits is that of their text, since DuckDB's is the same for 0 and -1.
CREATE OR REPLACE MACRO __anon_mark(x) AS CASE
    WHEN x IS NULL THEN NULL
    WHEN system.main.regexp_full_match(
        system.main.typeof(x), '(?s)U?HUGEINT|UUID|DECIMAL\((19|[23][0-9]),.*')
        THEN system.main.hash(x::VARCHAR)
    ELSE system.main.hash(__anon_bytes(x))
END;
-- Return whether __anon_mark is the one above and was not replaced.
CREATE OR REPLACE MACRO __anon_mark_is_ours() AS __anon_mark('a') = system.main.hash('a');

-- Return the hash of a value for an audit, 0 for NULL. DuckDB's own runs lists together, takes a month for 30 days, and
-- is the XOR of two halves for 128 bits, where 0 is as -1: these are hashed as text.
CREATE OR REPLACE MACRO __anon_audit_mark(x) AS if(x IS NULL, 0, system.main.hash(__anon_bytes(x), CASE
    WHEN system.main.regexp_full_match(
        system.main.typeof(x), '(?s)INTERVAL|U?HUGEINT|UUID|DECIMAL\((19|[23][0-9]),.*'
            '|(STRUCT|MAP|UNION|VARIANT).*|.*\]') THEN x::VARCHAR END));

-- Return whether values of a type that print differently have different hashes, on any version of
-- DuckDB.
CREATE OR REPLACE MACRO __anon_hashes_apart(x) AS system.main.regexp_full_match(system.main.typeof(x),
    '(?s)U?(TINYINT|SMALLINT|INTEGER|BIGINT)|DECIMAL\((1[0-8]|[1-9]),.*\)|VARCHAR|JSON'
    '|BOOLEAN|ENUM\(.*\)|DATE|TIME|TIME_NS|TIMESTAMP(_S|_MS|_NS| WITH TIME ZONE)?|BLOB|"NULL"');

-- Return a kept value for its hash: NULL for BIT and TIME WITH TIME ZONE, whose hashes differ from one
-- version of DuckDB to another, so that their text alone counts.
CREATE OR REPLACE MACRO __anon_steady
    (x) AS CASE
        WHEN system.main.regexp_matches(system.main.typeof(x), '\b(BIT|TIME WITH TIME ZONE)\b')
            THEN NULL
        ELSE x
    END,
    (x VARCHAR) AS system.main.encode(x);

-- Return the text of a kept value if values that print differently can have its hash (-0.0, NaN with
-- a sign, types of 128 bits, nested types); NULL otherwise. The overloads say the same of common
-- types in fewer words, which DuckDB binds for each column.
CREATE OR REPLACE MACRO __anon_told_apart
    (x) AS CASE
        WHEN system.main.typeof(x) IN ('FLOAT', 'DOUBLE') THEN CASE
            WHEN system.main.signbit(TRY_CAST(x AS DOUBLE))
                AND TRY_CAST(x AS DOUBLE) IN (0::DOUBLE, 'nan'::DOUBLE) THEN x::VARCHAR END
        WHEN NOT __anon_hashes_apart(x) THEN x::VARCHAR
    END,
    (x VARIANT) AS x::VARCHAR,
    (x VARCHAR) AS NULL::VARCHAR,
    (x BIGINT) AS NULL::VARCHAR,
    (x DATE) AS NULL::VARCHAR,
    (x TIMESTAMP) AS NULL::VARCHAR;

-- Return the rows of a relation with __anon_hash, the hash of its columns whose names begin with
-- __anon_kept_, in their order.
CREATE OR REPLACE MACRO __anon_row_hashed(__anon_relation) AS TABLE
WITH
__anon_texts AS (
    SELECT
        *,
        __anon_steady(COLUMNS('^__anon_kept_'))
            AS '__anon_byte_\0',
        __anon_bytes(__anon_told_apart(COLUMNS('^__anon_kept_'))) AS '__anon_text_\0'
    FROM query_table(__anon_relation)
),
__anon_parts AS (
    SELECT
        *,
        system.main.hash(''::BLOB, *COLUMNS('^__anon_byte_')) AS __anon_plain,
        coalesce(*COLUMNS('^__anon_text_'))
            AS __anon_any_text,
        system.main.hash(*COLUMNS('^__anon_text_')) AS __anon_of_texts
    FROM __anon_texts
)
SELECT *, CASE
    WHEN __anon_any_text IS NULL THEN __anon_plain
    ELSE system.main.hash(__anon_plain, __anon_of_texts)
END AS __anon_hash
FROM __anon_parts;

-- Return the rows of a relation with __anon_row, a hash of all columns by which a sample of rows is
-- taken.
CREATE OR REPLACE MACRO __anon_sampled(__anon_relation) AS TABLE
SELECT *, system.main.hash(*COLUMNS(*)) AS __anon_row FROM query_table(__anon_relation);
