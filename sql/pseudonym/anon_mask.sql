-- A text in which all characters but the first and last few are replaced by `*`.
--
-- value: a text, or any value as DuckDB prints it. keep_left, keep_right: number of characters that
--   are kept at each end. A character is what a reader sees (a grapheme): a letter with its accents
--   and an emoji are one.
-- Returns: VARCHAR of the same number of characters; NULL for NULL. A text that is no longer than
--   what would be kept is masked entirely.
-- Errors: keep_left or keep_right that is not a whole number of at least 0.
-- Example: SELECT anon_mask('4111 1111 1111 1111') AS card;
CREATE OR REPLACE MACRO anon_mask(value, keep_left := 0, keep_right := 4) AS __anon_masked(
    value::VARCHAR,
    __anon_columns_kept_length('keep_left', keep_left),
    __anon_columns_kept_length('keep_right', keep_right));
