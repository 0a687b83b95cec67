-- Random range and set queries, each of which about the wanted share of a table's rows matches.
--
-- tbl: name of the table. n: how many queries. attributes: quasi-identifiers in each.
-- selectivity: the wanted share of rows, above 0 and at most 1. seed: all randomness.
-- qids: the quasi-identifiers; NULL means as declared in comments.
-- Returns: n rows: query (a count over `raw`, for query_error), selectivity (the share that
--   matches in fact).
-- Errors: no quasi-identifier, more attributes than quasi-identifiers, an empty table.
-- Example: SELECT * FROM query_workload('people', n := 5, qids := ['age', 'city']);
CREATE OR REPLACE MACRO query_workload(
    tbl, n := 1000, attributes := 2, selectivity := 0.05, seed := 42, qids := NULL
) AS TABLE
WITH
__anon_listed AS (
    SELECT list(COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
        OR __anon_is('quasi', __anon_c, __anon_measure_call(tbl, qids, NULL))))
    FROM (SELECT *, 0 AS __anon_zero FROM query_table(tbl))
),
__anon_packed AS (SELECT struct_pack(*COLUMNS(*)) AS __anon_lists FROM __anon_listed)
SELECT unnest(__anon_query_workload(
    __anon_types, __anon_lists, __anon_measure_call(tbl, qids, NULL), __anon_seen(tbl),
    {'n': __anon_k_given, 'attributes': attributes, 'selectivity': selectivity, 'seed': seed}),
    recursive := true)
FROM __anon_packed, __anon_schema(tbl, n);
