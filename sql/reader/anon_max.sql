-- The largest value a label stands for.
--
-- label: a released value, a label (VARCHAR) or a STRUCT(min, max) of the typed format.
-- Returns: VARCHAR to cast for a label, the value in its own type for a struct; NULL for `*`, for
--   NULL and for text.
-- Errors: a text that is not a label.
-- Example: SELECT anon_max('[17, 23]')::INTEGER AS oldest;
CREATE OR REPLACE MACRO anon_max
    (label) AS label.max,
    (label VARCHAR) AS __anon_upper(label);
