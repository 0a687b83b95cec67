-- The persons whose sensitive value several releases disclose together: the intersection or
-- composition attack (Ganta, Kasiviswanathan and Smith 2008), counted on the raw table. The
-- attacker knows all quasi-identifiers of a person and which releases hold the person. In one
-- release the candidates of a person are the rows of all classes whose labels cover the person's
-- quasi-identifiers, counted by sensitive value; in several, the values that are candidates in each
-- release that covers the person, each as often as in the release that has it least. The result
-- holds counts only, never values. It is one attack, and finding nobody is not a bound: it compares
-- sets of values of one sensitive column, but neither counts of rows nor kept columns. A class
-- covers a person if each of its labels covers the value in the same row of the person; a
-- quasi-identifier that a release lacks covers everything. A class shown as * in every
-- quasi-identifier covers only persons whom no other class of the release covers. NULL in a
-- sensitive column is not a value; a release that shows only NULLs for a person, or lacks the
-- column, does not narrow the candidates.
--
-- raw: name of the raw table. releases: list of the names of 1 to 12 releases, each in label or
--   typed format and with its own quasi-identifiers, which may also be left unchanged.
-- id: column of the raw table that identifies the person; NULL means that each row is a person. A
--   class covers a person with several rows if it covers one of them. Every row whose id is NULL
--   counts as one person.
-- sensitive: sensitive column or list of columns, in addition to those declared.
-- l: below_l and only_together count persons with fewer candidate values than this.
-- share: above_share counts persons for whom one value has a larger share of the candidates than
--   this.
-- qids: the quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- Returns: for each sensitive column a row per release and, for several releases, a last row for all
--   together: attribute, releases (VARCHAR[]), persons (covered by at least one of them), in_all
--   (covered by all of them), contradicted (no candidate is left: the person is not in a release that
--   covers the person, or the value has changed; not counted further), one_value (one candidate value
--   is left), below_l (fewer than l are left), only_together (fewer than l are left, though each
--   release alone leaves at least l), above_share (one value has a larger share of the candidates
--   than share), least_values, mean_values (candidate values of a person), least_rows (smallest
--   number of candidates of a person), note (what is not counted). The three before it are NULL without
--   such persons.
-- Errors: no release or more than 12, an unknown id, no quasi-identifier in a release, no sensitive
--   column, a sensitive column that all releases lack or hold in different types, a label that
--   cannot be read, means or medians in place of labels.
-- Example: SELECT * FROM composition('people', ['release', 'release'], sensitive := 'illness', qids := ['age', 'city']);
CREATE OR REPLACE MACRO composition(
    raw, releases, id := NULL, sensitive := NULL, l := 2, share := 0.5, qids := NULL,
    hierarchy := NULL
) AS TABLE
WITH __anon_no_release AS (SELECT 0::TINYINT AS __anon_none WHERE false)
SELECT system.main.unnest(__anon_audit_composed(
    system.main.struct_pack(
        call := __anon_measure_call(raw, qids, sensitive),
        connection := system.main.current_connection_id(),
        seen := __anon_seen(raw || ' ' || __anon_names(releases)[1]),
        types := __anon_types, releases := __anon_names(releases), id := id, l := l, share := share,
        paths := __anon_path_rows, time_zone := system.main.current_setting('TimeZone')),
    __anon_persons,
    system.main.struct_pack(
        r1 := __anon_1.__anon_part, r2 := __anon_2.__anon_part, r3 := __anon_3.__anon_part,
        r4 := __anon_4.__anon_part, r5 := __anon_5.__anon_part, r6 := __anon_6.__anon_part,
        r7 := __anon_7.__anon_part, r8 := __anon_8.__anon_part, r9 := __anon_9.__anon_part,
        r10 := __anon_10.__anon_part, r11 := __anon_11.__anon_part,
        r12 := __anon_12.__anon_part)), recursive := true)
FROM
    __anon_types(raw),
    __anon_path_rows(hierarchy),
    __anon_person_rows(raw, id, __anon_measure_call(raw, qids, sensitive)),
    __anon_part(raw, __anon_names(releases)[1], __anon_measure_call(raw, qids, sensitive)) AS __anon_1,
    __anon_part(raw, __anon_names(releases)[2], __anon_measure_call(raw, qids, sensitive)) AS __anon_2,
    __anon_part(raw, __anon_names(releases)[3], __anon_measure_call(raw, qids, sensitive)) AS __anon_3,
    __anon_part(raw, __anon_names(releases)[4], __anon_measure_call(raw, qids, sensitive)) AS __anon_4,
    __anon_part(raw, __anon_names(releases)[5], __anon_measure_call(raw, qids, sensitive)) AS __anon_5,
    __anon_part(raw, __anon_names(releases)[6], __anon_measure_call(raw, qids, sensitive)) AS __anon_6,
    __anon_part(raw, __anon_names(releases)[7], __anon_measure_call(raw, qids, sensitive)) AS __anon_7,
    __anon_part(raw, __anon_names(releases)[8], __anon_measure_call(raw, qids, sensitive)) AS __anon_8,
    __anon_part(raw, __anon_names(releases)[9], __anon_measure_call(raw, qids, sensitive)) AS __anon_9,
    __anon_part(raw, __anon_names(releases)[10], __anon_measure_call(raw, qids, sensitive)) AS __anon_10,
    __anon_part(raw, __anon_names(releases)[11], __anon_measure_call(raw, qids, sensitive)) AS __anon_11,
    __anon_part(raw, __anon_names(releases)[12], __anon_measure_call(raw, qids, sensitive)) AS __anon_12;
