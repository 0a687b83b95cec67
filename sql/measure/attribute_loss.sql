-- The information loss of each quasi-identifier: its mean NCP over all rows.
--
-- raw: name of the raw table. released: name of its release, in any format.
-- quasi: the quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- Returns: a row per quasi-identifier, in the order declared: attribute, ncp (0…1, NULL for an
--   empty raw table and for means and medians). The mean of ncp is the gcp of the table.
-- Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw and
--   release swapped.
-- Example: SELECT * FROM attribute_loss('people', 'release', quasi := ['age', 'city']);
CREATE OR REPLACE MACRO attribute_loss(raw, released, quasi := NULL, hierarchy := NULL) AS TABLE
SELECT unnest(__anon_found.attributes) AS attribute, unnest(__anon_found.ncp) AS ncp
FROM __anon_measures('attribute_loss', raw, released, quasi, hierarchy);
