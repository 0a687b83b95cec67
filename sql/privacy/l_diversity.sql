-- The l that a release has: how varied the sensitive values are in the class where they vary
-- least (Machanavajjhala et al. 2006). 'distinct' counts values; 'entropy' is exp(-sum p ln p),
-- not rounded; 'recursive' is the largest l with r1 < c * (r_l + ... + r_v), the counts r of the
-- values in descending order. Only values that are not NULL count: a class of NULLs only has 0.
-- Suppressed rows, shown as *, are a class; rows left out of the release publish no sensitive
-- value and are none.
--
-- raw: name of the original table. released: name of its release, label or typed format.
-- sensitive: a name or a list of names, besides those declared; of several the worst counts, each
--   by itself. kind: 'distinct', 'entropy' or 'recursive'. c: the c of 'recursive'.
-- qids: the quasi-identifiers; NULL means as declared in comments on the raw table.
-- hierarchy: the relation that the release was made with; NULL for none.
-- Returns: DOUBLE; a whole number but for 'entropy'; NULL for an empty release.
-- Errors: no quasi-identifier or sensitive column, one that the release lacks, a label that cannot
--   be read, raw and release swapped, an unknown kind, a c that is not above 0.
-- Example: SELECT l_diversity('people', 'release', 'illness', qids := ['age', 'city']);
CREATE OR REPLACE MACRO l_diversity(
    raw, released, sensitive := NULL, kind := 'distinct', c := 3, qids := NULL, hierarchy := NULL
) AS (
    SELECT min(__anon_l)
    FROM __anon_diverse_classes(
        'l_diversity', raw, released, sensitive, kind, c, qids, hierarchy)
);
