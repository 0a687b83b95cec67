-- The information that each quasi-identifier has lost: its NCP, averaged over all rows.
--
-- raw: name of the original table. released: name of its release, label or typed format.
-- qids: the quasi-identifiers; NULL means as declared in comments on the raw table.
-- hierarchy: the relation that the release was made with; NULL for none.
-- Returns: a row per quasi-identifier, in the order declared: attribute, ncp (0…1, NULL for an
--   empty raw table). The mean of ncp is the table's gcp.
-- Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw and
--   release swapped.
-- Example: SELECT * FROM attribute_loss('people', 'release', qids := ['age', 'city']);
CREATE OR REPLACE MACRO attribute_loss(raw, released, qids := NULL, hierarchy := NULL) AS TABLE
SELECT unnest(__anon_attributes) AS attribute, unnest(__anon_ncps) AS ncp
FROM __anon_measured(
    'attribute_loss', raw, released, 5, 'share', __anon_measure_call(raw, qids, NULL),
        __anon_hierarchy := hierarchy);
