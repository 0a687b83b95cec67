-- A check of a release against its raw table, one row per property. passed is NULL if the property
-- cannot be decided.
-- 'rows': raw = released; NULL if rows are left out with suppressed := 'drop', because suppressed
-- rows cannot be distinguished from lost ones. 'k', 'l', 't' and the levels of all other privacy
-- models: of the worst class, as in k_anonymity, l_diversity, t_closeness and so on. l and t are not
-- measured if they are NULL, and all others but k are left out.
-- 'suppressed rows': none, or k, shown as * or left out.
-- 'kept values': released rows whose values beside the labels match no remaining raw row; all rows if
-- the release lacks a column with the role keep.
-- 'labels': released rows whose labels cover no raw row with the same kept values. 'raw rows': raw
-- rows that no released row covers, except those left out. Both are necessary conditions.
-- 'matching', a sufficient condition: released rows without a raw row of their own in a maximum
-- matching. All three are NULL if too many rows share their kept values, so that labels would be
-- compared with rows more than 5,000 million times; 'matching' also if it takes too many steps.
-- 'spelling': labels that cannot be read, cover no value of the raw column, or are written in another
-- way than a release writes them. An end may also be written in the shortest way: 43 for 43.0, a date
-- for a timestamp at midnight.
-- 'wider labels': labels that cover values of the raw column but end at none of them, or name a text
-- that it lacks. They are true if they cover their rows, wherever they end: NULL.
-- A mean or median says nothing of a single row: as a label it covers every value but NULL, if it lies
-- between the smallest and the largest raw value, and NULL covers any. value_loss compares it with the
-- rows.
-- 'unique range ends': ends of ranges that a single raw row has. Ranges end at real values, so
-- there may be some: NULL.
-- 'added columns': columns that the raw table lacks. 'identifiers': declared identifiers; NULL if
-- none is declared. 'identifying columns': columns without a role in which nine values in ten
-- differ.
-- 'row numbers': columns of consecutive whole numbers, and columns without a role that ascend in
-- the raw table.
-- 'identifying combinations': share of rows that are unique on the columns that are kept and not
-- sensitive, together; the example names the columns that do most of it.
-- 'pseudonyms': columns whose values are all 64 hexadecimal digits, as of anon_pseudonym. Whoever
-- has two releases with the same pseudonyms can join them. That may be intended: NULL.
-- 'composition', with previous: share of persons for whom this and the earlier releases together leave
-- fewer than l values of a sensitive column, at least 2, though each alone leaves as many (see
-- composition); of the worst column. It is one attack, and passing it is no bound; the example says
-- so.
--
-- raw: name of the raw table. released: name of its release, in any format.
-- k: smallest size of an equivalence class, in rows; NULL means that it is only measured.
-- l: smallest diversity of each sensitive column in a class; NULL means that it is not measured.
-- t: largest distance of a sensitive column's distribution in a class from that in the table, 0…1;
--   NULL means that it is not measured.
-- qids: columns that were generalized; NULL means as declared in comments on the raw table.
-- sensitive: columns whose values are protected; NULL means as declared in comments on the raw
--   table.
-- identifiers: columns that identify persons, which the release must not have; NULL means as
--   declared in comments on the raw table.
-- keep: columns that were released unchanged; NULL means as declared in comments on the raw table.
-- l_kind: what l counts: 'distinct' values, 'entropy' or 'recursive'.
-- c: the constant of l_kind := 'recursive'.
-- hierarchy: the hierarchy table that the release was made with; NULL for none.
-- entity: column that identifies persons, by whom the privacy models count. If the release lacks
--   it, k is the smallest number of persons that its rows can belong to, and the other levels, but
--   for l of distinct values, are NULL unless each row can belong to one person only; NULL for
--   none.
-- suppressed: 'keep' or 'drop', as in the release; with 'drop', rows left out are not a class.
-- synthetic: number of rows that a perturbative release has added; properties that do not apply to
--   it are NULL.
-- unique_share: largest share of rows that may be unique on the kept columns together, 0…1.
-- beta: largest relative gain of a sensitive value's share in a class over that in the table, also
--   limited to -ln of the latter; NULL means that it is not measured.
-- delta: bound of |ln(share in a class / share in the table)| for every sensitive value; NULL means
--   that it is not measured.
-- previous: list of the names of 1 to 11 earlier releases of persons in the raw table; NULL for
--   none.
-- previous_share: largest share of persons that 'composition' may find, 0…1.
-- counterfeits: withdrawn; an error says why, and what to do meanwhile.
-- beta_kind: 'enhanced', or 'basic' for a beta without the limit -ln of the share in the table.
-- max_share: largest share of a sensitive value in a class, 0…1; that of missing values counts too;
--   NULL means that it is not measured.
-- Returns: property, required, found (numbers), passed (BOOLEAN), example (labels, names of columns
--   or counts), meaning (what was found, in a sentence with its figures; no value and no label).
-- Errors: no quasi-identifier, one or a sensitive column that the release lacks, columns of other
--   types than a release has, raw and release swapped, an l, t, beta or delta without a sensitive
--   column, more rows than fit into memory; with previous, those of composition.
-- Example: SELECT * FROM audit('people', 'release', 2, qids := ['age', 'city']);
CREATE OR REPLACE MACRO audit(
    raw, released, k := NULL, l := NULL, t := NULL, qids := NULL, sensitive := NULL,
    identifiers := NULL, keep := NULL, l_kind := 'distinct', c := 3, hierarchy := NULL,
    entity := NULL, suppressed := 'keep', synthetic := 0, unique_share := 0, beta := NULL,
    delta := NULL, previous := NULL, previous_share := 0, counterfeits := NULL,
    beta_kind := 'enhanced', max_share := NULL
) AS TABLE
-- A CTE is bound if it is named: without earlier releases the second one costs nothing.
WITH
__anon_alone AS NOT MATERIALIZED (
    SELECT
        NULL::VARCHAR AS property, NULL::DOUBLE AS required, NULL::DOUBLE AS found,
        NULL::BOOLEAN AS passed, NULL::VARCHAR AS example, NULL::VARCHAR AS meaning
    WHERE false),
__anon_together AS NOT MATERIALIZED (
    FROM __anon_composition_property(
        raw, released, previous, previous_share, l, synthetic, qids, sensitive, hierarchy, entity))
FROM __anon_audited(
    raw, released, k, system.main.struct_pack(
        l := l, t := t, l_kind := l_kind, c := c, entity := entity, suppressed := suppressed,
        synthetic := synthetic, unique_share := unique_share, beta := beta, delta := delta,
        previous := previous, previous_share := previous_share, counterfeits := counterfeits,
        beta_kind := beta_kind, max_share := max_share),
    hierarchy, __anon_scope(raw, system.main.struct_pack(
        qids := qids, sensitive := sensitive, identifiers := identifiers, keep := keep,
        drops := __anon_entity_of(entity), whole := true)))
UNION ALL FROM query_table(if(__anon_all_named(previous), '__anon_together', '__anon_alone'));
