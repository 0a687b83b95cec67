-- The t that a release has: the distance between the sensitive values of a class and those of the
-- raw table, in the class where it is greatest (Li et al. 2007, earth mover's distance). For
-- numbers, dates and times moving to the next value costs 1 / (values - 1); for all else, and for
-- a column with NULLs, which are a value, any move costs 1; where the hierarchy names the column
-- a move costs the height of the lowest node above both values / the height of the tree, and NULL
-- stands below the root. Suppressed rows, shown as *, are a class; rows left out of the release
-- publish no sensitive value and are none, but count in the raw table.
--
-- raw: name of the original table. released: name of its release, label or typed format.
-- sensitive: a name or a list of names, besides those declared; of several the worst counts.
-- qids: the quasi-identifiers; NULL means as declared in comments on the raw table.
-- hierarchy: the relation that the release was made with, which may name sensitive columns too;
--   NULL for none.
-- Returns: DOUBLE, 0…1; NULL for an empty release.
-- Errors: no quasi-identifier or sensitive column, one that the release lacks, a label that cannot
--   be read, raw and release swapped, sensitive values that the raw table or the hierarchy lacks.
-- Example: SELECT t_closeness('people', 'release', 'illness', qids := ['age', 'city']);
CREATE OR REPLACE MACRO t_closeness(
    raw, released, sensitive := NULL, qids := NULL, hierarchy := NULL
) AS (
    SELECT max(__anon_t)
    FROM __anon_distant_classes('t_closeness', raw, released, sensitive, qids, hierarchy)
);
