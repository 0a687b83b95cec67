-- The range of each numeric quasi-identifier, for gower().
--
-- As in every release: tbl, quasi.
-- Returns: MAP(VARCHAR, DOUBLE) by column name: largest less smallest value (days for a date,
--   microseconds for a time or timestamp), NULL for text.
-- Errors: no quasi-identifier, a column that is neither number, date, time nor text.
-- Example: SELECT gower_ranges('people', ['age', 'city']);
CREATE OR REPLACE MACRO gower_ranges(tbl, quasi := NULL) AS (
    SELECT __anon_release_gower_ranges(__anon_buffer, __anon_row_numbers(__anon_rows))
    FROM __anon_table(
        'gower_ranges', tbl, 1, __anon_step(tbl, system.main.struct_pack(
            quasi := quasi)), NULL, NULL, 'none')
);
