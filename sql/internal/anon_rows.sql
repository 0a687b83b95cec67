-- The rows of a relation, numbered, each with a hash of what will be released of it.
--
-- __anon_hash decides ties and the order within a class: it sees the columns that are
-- released unchanged and nothing else. __anon_row is only counted, never released.

-- What is hashed of a kept value. DuckDB's own hash runs lists together ([a, b] and [c] hash as
-- [a] and [b, c] do) and gives NULL and [] the same one: rows that differ would tie and come in
-- the source's order. So all that is no plain value is hashed with its text.
CREATE OR REPLACE MACRO __anon_whole_by
    (probe, x) AS {'value': x, 'text': x::VARCHAR},
    (probe VARCHAR, x) AS x,
    (probe BOOLEAN, x) AS x,
    (probe UUID, x) AS x,
    (probe DOUBLE, x) AS x,
    (probe TIME, x) AS x,
    (probe TIME_NS, x) AS x,
    (probe TIMESTAMP, x) AS x,
    (probe TIMESTAMPTZ, x) AS x;
CREATE OR REPLACE MACRO __anon_whole(x) AS __anon_whole_by(list_extract(list_value(x), 1), x);

CREATE OR REPLACE MACRO __anon_hashed(__anon_tbl, __anon_roles) AS TABLE
SELECT
    COLUMNS(lambda __anon_c: __anon_c[:13] <> '__anon_whole_'),
    hash('', *COLUMNS(lambda __anon_c: __anon_c[:13] = '__anon_whole_')) AS __anon_hash
FROM (
    SELECT
        *,
        __anon_whole(COLUMNS(lambda __anon_c: __anon_is('kept', __anon_c, __anon_roles)))
            AS '__anon_whole_\0'
    FROM (SELECT *, 0::TINYINT AS __anon_zero FROM query_table(__anon_tbl))
);

CREATE OR REPLACE MACRO __anon_rows(__anon_tbl, __anon_roles) AS TABLE
SELECT *, row_number() OVER () AS __anon_row FROM __anon_hashed(__anon_tbl, __anon_roles);
