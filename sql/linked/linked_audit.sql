-- Checks released tables that belong together, one row per property, against the raw ones. It shares no
-- code with release_linked. passed is NULL if the property is not required.
-- 'identifiers': identifier columns that are still present. 'columns': missing columns. 'added_columns':
-- columns that are not in the raw table and that a release does not add.
-- 'persons': as many as in the raw table. 'rows': not more than in the raw table.
-- 'keys': rows with no key or a duplicate key. 'orphans': rows whose foreign key matches no row. 'raw_keys':
-- new keys that the raw table has in the same column.
-- 'k': the fewest people of one folded record: their labels, and for each of their rows its labels
-- and what is below it. 'l' of a sensitive column or number of rows: the least number of values in a
-- slot (rows of a class with equal folds on the path from the person), and one more than the fewest
-- people of the class who lack a value there; with 'all slots', the latter over all rows of a table.
-- 'unlinked_labels': the fewest rows of equal labels among those without a link. 'unlinked_values':
-- of them, rows with a sensitive or kept value. 'unlinked_people', with truth: the most people who
-- can be behind equal labels, none with more than an equal share of the rows, counted over the raw rows
-- that the labels cover; an upper bound, since a release does not tell whose unlinked rows are.
-- 'numbers': rows whose number of rows below is not the low end of the range that they show, or whose
-- weight times it lies outside the range; left out for means and medians.
-- 'reference_rows': rows of a table that is released unchanged which fewer than k people use.
-- 'true_labels', 'kept_values', 'label_spelling', with truth: as in audit, of the linked rows of each table, joined
-- with all rows above. The values that are kept in a row and in all rows that stay with it, such as the
-- diagnoses of a visit, must be those of one raw row. 'covered_rows' and 'matched_rows' of the table of people.
--
-- raw: name of the raw table of people. released: name of its release, such as 'safe.person'; the
--   other tables lie beside it, with the names of the raw ones. It may be a file in a folder.
-- k: people that must share a folded record; NULL means that it is measured but not required.
-- l: values that must be in a slot; NULL means that it is measured but not required.
-- links: foreign keys that the catalog lacks, as in linked_risk.
-- leave_out: names of linked tables that were not released.
-- truth: whether labels are compared with raw rows, which takes longest.
-- quasi: quasi-identifiers beside those declared, a list like ['visit.ward']; sensitive, identifiers
--   and keep alike.
-- sensitive: as quasi.
-- identifiers: as quasi.
-- keep: as quasi; '*' stands for every column without another role.
-- exclude: columns that are left out, a list like quasi.
-- hierarchy: name of the hierarchy table that the release was made with; NULL for none.
-- Returns: property, required, found (numbers), passed (BOOLEAN), example (counts and names).
-- Errors: as linked_risk; a released table that is missing or lacks a column.
-- Example: SELECT * FROM linked_audit('people', 'people', k := 2, quasi := ['people.age', 'people.city'], keep := 'people.illness', truth := false);
CREATE OR REPLACE MACRO linked_audit(
    raw, released, k := NULL, l := NULL, links := NULL, leave_out := NULL, truth := true,
    quasi := NULL, sensitive := NULL, identifiers := NULL, keep := NULL, exclude := NULL,
    hierarchy := NULL
) AS TABLE
FROM query(__anon_linked_audit_statement(
    __anon_scope(raw, system.main.struct_pack(whole := true)),
    system.main.struct_pack(
        released := released, k := k, l := l, links := links, leave_out := leave_out,
        truth := truth, quasi := quasi, sensitive := sensitive, identifiers := identifiers,
        keep := keep, exclude := exclude, hierarchy := hierarchy)));
