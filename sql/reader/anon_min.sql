-- The smallest value a label stands for.
--
-- label: a released value, a label (VARCHAR) or a STRUCT(min, max) of the typed format.
-- Returns: VARCHAR to cast for a label, the value in its own type for a struct; NULL for `*`, for
--   NULL and for text.
-- Errors: a text that is not a label.
-- Example: SELECT anon_min('[17, 23]')::INTEGER AS youngest;
CREATE OR REPLACE MACRO anon_min
    (label) AS label.min,
    (label VARCHAR) AS __anon_lower(label);
