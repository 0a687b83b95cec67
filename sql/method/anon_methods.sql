-- The release methods, each a function of that name.
--
-- Returns: a row per method: name, what (a description), paper, doi (those of the papers, '; ' between
--   them; NULL for none), needs (requirements on the table; NULL for none), cost (growth of the time
--   with n rows), perturbative (whether the release has rows that the table does not have).
-- Errors: none.
-- Example: SELECT * FROM anon_methods();
CREATE OR REPLACE MACRO anon_methods() AS TABLE
WITH __anon_listed AS MATERIALIZED (SELECT __anon_methods_facts(0) AS __anon_facts)
SELECT unnest(__anon_method)
FROM (SELECT unnest(__anon_facts) AS __anon_method FROM __anon_listed);
