-- A pseudonym of a value: HMAC-SHA-256 with a secret key, as 64 hexadecimal digits. The same value
-- and key give the same pseudonym in every table, so that tables can still be joined.
--
-- value: text, BLOB, UUID, BOOLEAN, a whole number, DECIMAL, date or time; its text in DuckDB is
--   hashed as UTF-8, so 5 and '5' are the same. NULL stays NULL; empty text is a value.
-- key: text or BLOB of at least 16 bytes, the same in every row; 'env:NAME' reads it from an
--   environment variable, 'secret:name' from a DuckDB secret. A key that is written into the
--   statement is shown in the name of an unnamed column and in DuckDB's own errors and logs.
-- Returns: VARCHAR; NULL for NULL.
-- Errors: no key or a shorter one; a key that looks like a misspelt reference ('env=NAME', '$NAME')
--   or has fewer than four different characters; an environment variable or secret that does not
--   exist; a value of another type (DOUBLE and timestamps with time zone do not always have the
--   same text).
-- Example: SELECT anon_pseudonym('Ada', '0123456789abcdef') AS who;
CREATE OR REPLACE MACRO anon_pseudonym(value, key := NULL) AS __anon_columns_pseudonym(
    system.main.typeof(value), value::VARCHAR,
    __anon_columns_hold_key('anon_pseudonym', __anon_db(), key));
