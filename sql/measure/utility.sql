-- What a release keeps and what it costs: its measures in one row.
--
-- raw: name of the original table. released: name of its release, label or typed format.
-- k: the k that the release was made with, in rows; cavg is a multiple of it.
-- qids: the quasi-identifiers; NULL means as declared in comments on the raw table.
-- hierarchy: the relation that the release was made with; NULL for none.
-- Returns: one row: rows (of the raw table), released_rows, suppressed (rows shown as * or left
--   out), classes (without the suppressed), smallest_class (with the suppressed as one class, as
--   in k_anonymity), dm, dm_star, cavg, gcp, suppression_rate, each as its own function says.
-- Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw and
--   release swapped, k below 1.
-- Example: SELECT * FROM utility('people', 'release', k := 5, qids := ['age', 'city']);
CREATE OR REPLACE MACRO utility(raw, released, k := 5, qids := NULL, hierarchy := NULL) AS TABLE
SELECT
    __anon_rows AS rows,
    __anon_shown AS released_rows,
    __anon_suppressed AS suppressed,
    __anon_classes AS classes,
    __anon_smallest AS smallest_class,
    __anon_dm AS dm,
    __anon_dm_star AS dm_star,
    __anon_cavg AS cavg,
    __anon_gcp AS gcp,
    __anon_suppression_rate AS suppression_rate
FROM __anon_measured(
    'utility', raw, released, k, 'share', __anon_measure_call(raw, qids, NULL),
        __anon_hierarchy := hierarchy);
