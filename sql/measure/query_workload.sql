-- Random range and set queries, each of which matches about the given share of the rows of a table.
--
-- tbl: name of the table.
-- n: number of queries.
-- attributes: number of quasi-identifiers in each query.
-- selectivity: target share of matching rows, above 0 and at most 1.
-- seed: seed for random choices.
-- quasi: the quasi-identifiers; NULL means the columns declared in comments.
-- Returns: n rows: query (a count over `raw`, for query_error), selectivity (the actual share of
--   matching rows).
-- Errors: no quasi-identifier, more attributes than quasi-identifiers, an empty table.
-- Example: SELECT * FROM query_workload('people', n := 5, quasi := ['age', 'city']);
CREATE OR REPLACE MACRO query_workload(
    tbl, n := 1000, attributes := 2, selectivity := 0.05, seed := 42, quasi := NULL
) AS TABLE
SELECT unnest(__anon_queries_drawn(
    __anon_types, __anon_groups, __anon_measure_call(tbl, quasi, NULL), __anon_seen(tbl),
    system.main.struct_pack(
        n := __anon_k_given, attributes := attributes, selectivity := selectivity, seed := seed),
    system.main.current_connection_id()),
    recursive := true)
FROM
    __anon_groups(tbl, __anon_measure_call(tbl, quasi, NULL), 'quasi'), __anon_schema(tbl, n);
