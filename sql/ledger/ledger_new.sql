-- The rows of all people in a table whom no release in a ledger holds. They can be released
-- without releasing anyone twice. With k or l, no rows are returned until there are enough new people,
-- because a lone newcomer could be identified as the only difference. People who wait stay out of the
-- ledger, and come with the next release. ledger_overlap counts who waits. The result holds identifiers and is not a release.
--
-- tbl: name of the table. ledger: name of the ledger.
-- entity: column that identifies persons, called as in the raw tables of all entries. Its values
--   are compared whatever their type: the numbers 5 and 5.00 and the text 5 are the same person,
--   and the text 005 is another.
-- key: the key of the ledger, as in anon_pseudonym.
-- k: while fewer new persons than this are there, all of them wait; NULL means that they do not
--   wait for others.
-- l: while new persons have fewer different values than this in a sensitive column, NULL not
--   counted, all of them wait; NULL means that they do not wait for other values.
-- sensitive: sensitive column or list of columns, in addition to those declared, which l counts.
-- Returns: columns and rows of the table, all rows of a person or none.
-- Errors: an entry that was made with another key, an l without a sensitive column, and those of
--   ledger_overlap.
-- Example: SELECT * FROM ledger_new('people', 'anon_ledger', entity := 'city', key := '0123456789abcdef');
CREATE OR REPLACE MACRO ledger_new(
    tbl, ledger, entity := NULL, key := 'env:ANON_KEY', k := NULL, l := NULL, sensitive := NULL
) AS TABLE
SELECT COLUMNS(lambda __anon_c: __anon_c <> '__anon_zero' AND __anon_c[:14] <> '__anon_person_'
    AND __anon_c <> '__anon_waits')
FROM __anon_ledger_new_rows('ledger_new', tbl, ledger, entity, key, k, l, sensitive)
WHERE __anon_waits IS NULL AND __anon_person_of IS NOT NULL;
