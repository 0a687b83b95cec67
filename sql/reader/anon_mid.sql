-- The middle of a label's range, as a number.
--
-- label: a released value, a label (VARCHAR) or a STRUCT(min, max) of numbers.
-- Returns: DOUBLE; NULL for `*`, for NULL, for text and for dates.
-- Errors: a text that is not a label.
-- Example: SELECT anon_mid('[17, 23]') AS about;
CREATE OR REPLACE MACRO anon_mid(label) AS
    TRY_CAST(anon_min(label) AS DOUBLE) / 2 + TRY_CAST(anon_max(label) AS DOUBLE) / 2;
