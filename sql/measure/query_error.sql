-- The answers of a release to given queries: the true answer, an estimate, and the bounds between
-- which the true answer must lie.
--
-- raw: name of the raw table. released: name of its release, in label or typed format. queries: a
--   list of texts, each one SELECT of count(*), count, sum, avg, min or max FROM the raw table,
--   named as in the call or `raw`, optionally with WHERE and GROUP BY.
-- mode: 'estimate', or 'literal', which runs the query unchanged on the minimum of each label.
-- quasi: the quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- Returns: a row per query and group: query, group (a map, NULL without GROUP BY), actual,
--   estimate, lower, upper (NULL if unknown, and in mode 'literal'), relative_error (|actual -
--   estimate| / |actual|, NULL if actual is 0 or NULL), absolute_error.
-- Errors: a query that is not one SELECT over the raw table alone or has another clause than WHERE
--   and GROUP BY; a call that other measures refuse.
-- Example: SELECT * FROM query_error('people', 'release', ['SELECT count(*) FROM people WHERE age > 40'], quasi := ['age', 'city']);
CREATE OR REPLACE MACRO query_error(
    raw, released, queries, mode := 'estimate', quasi := NULL, hierarchy := NULL
) AS TABLE
FROM query(__anon_queries_answer_statement(
    'query_error', __anon_measure_call(raw, quasi, NULL), released, queries, mode,
    hierarchy));
