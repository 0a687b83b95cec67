-- Releases the tables that belong together, into one relation: what release_linked writes, for SQL alone.
-- Its columns have the names of the tables; each row has one of them, a struct of the released columns.
-- linked_table('visit', 'plan') takes a table out of it. Store the plan as a table, because each reading
-- of linked_plan makes other keys. It holds no raw keys, and every check of release_linked was made.
--
-- root: name of the table of people.
-- k: people that must share a folded record.
-- l: at least l - 1 people of a class lack each sensitive value of a slot, and of all slots of a table
--   together; the class has at least l values there.
-- surplus: 'drop' leaves out rows above the smallest count of their class; 'unlink' releases them with
--   labels alone, without link and values.
-- links: foreign keys that the catalog lacks, a list like ['visit.person_id -> person.person_id'].
-- leave_out: names of linked tables that are not released.
-- orphans: 'error', or 'drop' to leave out rows whose link is NULL or names no row.
-- quasi: quasi-identifiers beside those declared, a list like ['visit.ward']; sensitive, identifiers
--   and keep alike.
-- sensitive: as quasi.
-- identifiers: as quasi.
-- keep: as quasi; '*' stands for every column without another role.
-- hierarchy: name of a hierarchy table.
-- weights: MAP {'visit.ward': 2.0}: how much the loss of a quasi-identifier matters.
-- format: how labels are shown, as in every release.
-- effort: 'good', 'fast' or 'best'.
-- seed: seed for random choices; new keys never come from it.
-- bin_width: MAP {'visit.day': 7}: width of the bins to which a quasi-identifier is cut, as in every release.
-- exclude: columns that are left out, a list like quasi.
-- key: secret key, as in every release: random choices depend on it and on the seed; NULL for none.
-- Returns: a column per table, a struct of what it releases; __anon_seal, by which linked_table knows
--   that no row of the table is missing or changed.
-- Errors: as release_linked; tables that are not committed.
-- Example: SELECT * FROM linked_plan('people', k := 2, quasi := ['people.age', 'people.city'], keep := 'people.illness');
CREATE OR REPLACE MACRO linked_plan(
    root, k := 5, l := 1, surplus := 'drop', links := NULL, leave_out := NULL, orphans := 'error',
    quasi := NULL, sensitive := NULL, identifiers := NULL, keep := NULL, hierarchy := NULL,
    weights := NULL, format := 'label', effort := 'good', seed := 42, bin_width := NULL, exclude := NULL,
    key := NULL
) AS TABLE
FROM query(__anon_linked_plan_statement(
    __anon_scope(root, system.main.struct_pack(whole := true)),
    system.main.struct_pack(
        k := k, l := l, surplus := surplus, links := links, leave_out := leave_out,
        orphans := orphans, quasi := quasi, sensitive := sensitive, identifiers := identifiers,
        keep := keep, hierarchy := hierarchy, weights := weights, format := format,
        effort := effort, seed := seed, bin_width := bin_width, exclude := exclude,
        key := __anon_choices_key('linked_plan', key))));
