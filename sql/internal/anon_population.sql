-- The rows of a population as one row of lists, as an audit lists a raw table: their
-- quasi-identifiers in the types that hold the raw table's values too (__anon_quasi_…).
CREATE OR REPLACE MACRO __anon_population(__anon_raw, __anon_people, __anon_call) AS TABLE
SELECT list(COLUMNS(*))
FROM (
    (SELECT COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
        OR __anon_is('quasi', __anon_c, __anon_call)) AS '__anon_quasi_\0'
     FROM (SELECT *, 0 AS __anon_zero FROM query_table(__anon_raw)) LIMIT 0)
    UNION ALL BY NAME
    (SELECT COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
        OR __anon_is('quasi', __anon_c, __anon_call)) AS '__anon_quasi_\0'
     FROM (SELECT *, 0 AS __anon_zero FROM query_table(__anon_people)))
);
