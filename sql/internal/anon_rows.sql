-- The rows of a relation, numbered, each with a hash of what will be released of it.
--
-- __anon_hash decides ties and the order within a class: it sees the columns that are
-- released unchanged and nothing else. __anon_row is only counted, never released.
CREATE OR REPLACE MACRO __anon_rows(__anon_tbl, __anon_roles) AS TABLE
SELECT
    *,
    hash('', *COLUMNS(lambda __anon_c: __anon_is('kept', __anon_c, __anon_roles))) AS __anon_hash,
    row_number() OVER () AS __anon_row
FROM (SELECT *, 0 AS __anon_zero FROM query_table(__anon_tbl));
