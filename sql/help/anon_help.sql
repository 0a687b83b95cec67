-- All functions with their parameters, or the help of one function.
--
-- name: function to describe; without it, all functions are listed.
-- Returns: a row per function: name, topic, kind ('table' for use in FROM, or 'value'), parameters
--   (with their defaults), summary. For one function, a row per part of its help: part ('what',
--   'call', names of parameters, 'returns', 'errors', 'example'), text.
-- Errors: a name that is not a function of the package.
-- Example: SELECT * FROM anon_help('rayden');
CREATE OR REPLACE MACRO anon_help(name) AS TABLE (
    WITH __anon_found AS MATERIALIZED (SELECT __anon_help_parts_of(name::VARCHAR) AS __anon_parts)
    SELECT unnest(__anon_part)
    FROM (SELECT unnest(__anon_parts) AS __anon_part FROM __anon_found)
), () AS TABLE (
    WITH __anon_listed AS MATERIALIZED (SELECT __anon_help_functions(0) AS __anon_known)
    SELECT unnest(__anon_function)
    FROM (SELECT unnest(__anon_known) AS __anon_function FROM __anon_listed)
);
