-- What a release with format := 'mean' or 'median' loses: for each column of numbers, dates or times
-- the share of its variance that lies within classes (SSE / SST), and the mean distance between a
-- value and its replacement (IL1s of Mateo-Sanz et al. 2005, as in sdcMicro). The literature's figure
-- for a table, of standardized columns, is avg(sse_sst).
--
-- raw: name of the raw table. released: name of its release.
-- id: kept column that identifies the rows of both relations, so that each row is compared with its
--   own replacement; NULL for none: il1s is NULL, and so is sse_sst unless format is 'mean'.
-- quasi: the quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- format: the format that the release was made with. Without id, sse_sst follows from means alone;
--   it is NULL for other formats, for columns with NULLs or suppressed rows, and if the values
--   cannot be means; NULL means unknown.
-- Returns: a row per quasi-identifier of numbers, dates or times, in the order declared: attribute,
--   sse_sst (0…1 for means; medians can exceed 1; NULL for a constant column), il1s (in units of
--   sqrt(2) standard deviations). A suppressed value counts as replaced by the mean of the column; a
--   NULL of the raw table does not count.
-- Errors: no quasi-identifier, one that the release lacks or shows as labels, an id that does not
--   identify rows or that the raw table lacks, raw and release swapped.
-- Example: SELECT * FROM value_loss('people', 'people', quasi := ['age']);
CREATE OR REPLACE MACRO value_loss(
    raw, released, id := NULL, quasi := NULL, format := NULL
) AS TABLE
WITH
__anon_classed AS (
    FROM __anon_groups(released, __anon_measure_call(raw, quasi, NULL), 'quasi')
),
__anon_raw_listed AS (
    SELECT __anon_listed AS __anon_raw_lists
    FROM __anon_value_lists(raw, __anon_measure_call(raw, quasi, NULL), id)
),
__anon_released_listed AS (
    SELECT __anon_listed AS __anon_released_lists
    FROM __anon_value_lists(released, __anon_measure_call(raw, quasi, NULL), id)
),
__anon_lost AS (
    SELECT __anon_measures_value_losses(
        __anon_given, id::VARCHAR, format::VARCHAR, __anon_raw_lists, __anon_released_lists)
        AS __anon_found
    FROM
        __anon_given(
            raw, released, __anon_measure_call(raw, quasi, NULL), NULL, '__anon_classed'),
        __anon_raw_listed, __anon_released_listed
)
SELECT unnest(__anon_found, recursive := true) FROM __anon_lost;
