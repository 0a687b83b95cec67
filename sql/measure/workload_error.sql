-- The error of a release over many queries: a summary of query_error.
--
-- raw: name of the raw table. released: name of its release, in label or typed format. queries: a
--   list as in query_error, for example a variable that holds a query_workload.
-- mode: 'estimate', or 'literal', which runs the query unchanged on the minimum of each label.
-- quasi: the quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- Returns: one row: answers (rows of query_error), mean, median, percentile_90 of relative_error
--   (if actual is not 0), coverage (share of answers with lower <= actual <= upper, 1 for every
--   release of this package; NULL in mode 'literal'), width (median of (upper - lower) / actual).
-- Errors: those of query_error.
-- Example: SELECT * FROM workload_error('people', 'release', ['SELECT count(*) FROM raw WHERE age > 40'], quasi := ['age', 'city']);
CREATE OR REPLACE MACRO workload_error(
    raw, released, queries, mode := 'estimate', quasi := NULL, hierarchy := NULL
) AS TABLE
SELECT
    count(*) AS answers,
    avg(__anon_found.relative_error) AS mean,
    median(__anon_found.relative_error) AS median,
    quantile_cont(__anon_found.relative_error, 0.9) AS percentile_90,
    avg((__anon_found.actual BETWEEN __anon_found.lower AND __anon_found.upper)::INTEGER) AS coverage,
    median((__anon_found.upper - __anon_found.lower) / nullif(abs(__anon_found.actual), 0)) AS width
FROM query_error(raw, released, queries, mode := mode, quasi := quasi, hierarchy := hierarchy) AS __anon_found;
