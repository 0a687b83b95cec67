-- The values a text label stands for.
--
-- label: a released value, a label (VARCHAR) or the list of the typed format.
-- Returns: VARCHAR[]; NULL for `*`, for NULL and for a range.
-- Errors: a text that is no label.
-- Example: SELECT anon_values('{Accra, Bonn}') AS cities;
CREATE OR REPLACE MACRO anon_values
    (label) AS label::VARCHAR[],
    (label VARCHAR) AS __anon_values(label);
