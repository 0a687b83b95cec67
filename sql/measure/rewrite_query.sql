-- The SQL that query_error runs for a query, as text.
--
-- sql: one SELECT, as in query_error. raw: name of the raw table. released: name of its release.
-- mode: 'estimate', or 'literal', which runs the query unchanged on the minimum of each label.
-- quasi: the quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- Returns: VARCHAR, one statement with the result of query_error for the query.
-- Errors: a query that query_error refuses.
-- Example: SELECT rewrite_query('SELECT count(*) FROM raw WHERE age > 40', 'people', 'release', quasi := ['age', 'city']) AS sql;
CREATE OR REPLACE MACRO rewrite_query(
    sql, raw, released, mode := 'estimate', quasi := NULL, hierarchy := NULL
) AS __anon_queries_rewritten(
    'query_error', __anon_measure_call(raw, quasi, NULL), released, [sql], mode, hierarchy);
