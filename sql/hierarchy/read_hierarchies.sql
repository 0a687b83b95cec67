-- Generalization hierarchies from files in the usual format: no header, one line per value, the
-- value first, then its labels from the lowest level to the root, separated by semicolons or
-- commas. Store the result: the files are read again on every use.
--
-- files: a path, a pattern such as 'dir/*.csv', or a list of them; UTF-8. The name of a file, up to
--   its first dot, is the name of its column.
-- Returns: a row per value and level: attribute, value, level (1 is the first above the value),
--   label. Empty cells are left out, so lines may have different lengths.
-- Errors: no such file, a file that is not UTF-8, a line without a label, a file that can be read
--   with semicolons and with commas.
-- Example: SELECT * FROM read_hierarchies('hierarchies/*.csv');
CREATE OR REPLACE MACRO read_hierarchies(files) AS TABLE
SELECT unnest(__anon_row)
FROM (
    SELECT unnest(__anon_hierarchies_rows_in_files(
        (files)::VARCHAR, list(filename ORDER BY filename), list(content ORDER BY filename)))
        AS __anon_row
    FROM read_blob(files)
);
