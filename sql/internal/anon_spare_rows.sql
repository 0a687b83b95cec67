-- Return the rows of a table (__anon_made = 0), and for each value of the sensitive column in earlier
-- releases a row with nothing else (__anon_made = 1), of which counterfeits can be made.
CREATE OR REPLACE MACRO __anon_spare_rows(__anon_tbl, __anon_previous, __anon_call) AS TABLE
(SELECT *, 0 AS __anon_made FROM query_table(__anon_tbl))
UNION ALL BY NAME
(SELECT DISTINCT
    * EXCLUDE (__anon_zero), 1 AS __anon_made
 FROM (
    SELECT COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
        OR __anon_is('sensitive', __anon_c, __anon_call))
    FROM (SELECT *, 0::TINYINT AS __anon_zero
          FROM query_table(__anon_names(__anon_previous), true))));
