-- The people whose sensitive value several releases disclose together: the intersection or
-- composition attack (Ganta, Kasiviswanathan and Smith 2008), counted on the raw table. The
-- attacker knows all quasi-identifiers of a person and which releases hold the person. In one
-- release the candidates of a person are the rows of all classes whose labels cover the person's
-- quasi-identifiers, as whole tuples of their sensitive and kept columns; in several, the tuples
-- that are candidates in each release that covers the person, each as often as in the release that
-- has it least. Releases that lack a column are compared by the others. What is left is counted by
-- sensitive value. The result holds counts only, never values. It is an attack, and finding no one
-- is not a bound: it intersects, but does not subtract counts, as audit does with previous;
-- share_of_minima is an estimate. A class covers a person if each of its labels covers the value in
-- the same row of the person; a quasi-identifier that a release lacks covers everything. A class
-- shown as * in every quasi-identifier covers only people whom no other class of the release
-- covers. NULL in the sensitive column of attribute is not a value, elsewhere in a tuple it is; a
-- release that shows only NULLs for a person, or lacks the column, does not narrow the candidates.
--
-- raw: name of the raw table. releases: list of the names of 1 to 12 releases, each in label or
--   typed format and with its own quasi-identifiers, which may also be left unchanged.
-- id: column of the raw table that identifies the person; NULL means that each row is a person. A
--   class covers a person with several rows if it covers one of them. Every row whose id is NULL
--   counts as one person.
-- sensitive: sensitive column or list of columns, in addition to those declared.
-- l: below_l and only_together count people with fewer candidate values than this.
-- share: share_of_minima counts people for whom one value has a larger share of the candidates than
--   this.
-- quasi: the quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- keep: kept column or list of columns, in addition to those declared: with the sensitive columns
--   they are the whole tuple of a row.
-- Returns: for each sensitive column a row per release and, for several releases, a last row for all
--   together: attribute, releases (VARCHAR[]), persons (covered by at least one of them), in_all
--   (covered by all of them), contradicted (no candidate is left: the person is not in a release that
--   covers the person, or the tuple has changed; not counted further), one_value (one candidate value
--   is left), below_l (fewer than l are left), only_together (fewer than l are left, though each
--   release alone leaves at least l), share_of_minima (one value has a larger share of the candidates
--   than share), least_values, mean_values (candidate values of a person), least_rows (smallest
--   number of candidates of a person), note (what it is, and what is not counted). The three before
--   it are NULL without such people.
-- Errors: no release or more than 12, an unknown id, no quasi-identifier in a release, no sensitive
--   column, a sensitive column that all releases lack, one or a kept one that they hold in different
--   types, a label that cannot be read, means or medians in place of labels.
-- Example: SELECT * FROM composition('people', ['release', 'release'], sensitive := 'illness', quasi := ['age', 'city']);
CREATE OR REPLACE MACRO composition(
    raw, releases, id := NULL, sensitive := NULL, l := 2, share := 0.5, quasi := NULL,
    hierarchy := NULL, keep := NULL
) AS TABLE
SELECT system.main.unnest(
    __anon_composition_counted(
        system.main.struct_pack(
            id := id, l := l, share := share), __anon_read, __anon_persons, __anon_parts),
    recursive := true)
FROM __anon_releases_read(
    'composition', 'releases', raw, __anon_names(releases), id, hierarchy,
    __anon_composed_call(raw, quasi, sensitive, keep));
