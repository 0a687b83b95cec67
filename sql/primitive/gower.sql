-- Gower's distance of two records (Gower 1971): the mean over the columns that both have.
--
-- a, b: records as structs, for example the rows of two aliases of a table; columns that `ranges`
--   does not name are ignored.
-- ranges: from gower_ranges(); a range for each numeric column, NULL for text.
-- Returns: DOUBLE in [0, 1]; NULL if no column is present in both.
-- Errors: a column of `ranges` that a record lacks.
-- Example: SELECT gower({'age': 30, 'sex': 'f'}, {'age': 40, 'sex': 'm'}, MAP {'age': 50.0, 'sex': NULL});
CREATE OR REPLACE MACRO gower(a, b, ranges) AS __anon_measures_gower_distances(a, b, ranges);
