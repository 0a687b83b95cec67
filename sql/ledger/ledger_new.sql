-- The rows of all persons in a table whom no release in a ledger holds. They can be released
-- without releasing anybody twice. The result holds identifiers and is not a release.
--
-- tbl: name of the table. ledger: name of the ledger. entity: column that identifies persons, as in
--   ledger_overlap.
-- key: the key of the ledger, as in anon_pseudonym.
-- Returns: columns and rows of the table, all rows of a person or none.
-- Errors: an entry that was made with another key, and those of ledger_overlap.
-- Example: SELECT * FROM ledger_new('people', 'anon_ledger', entity := 'city', key := '0123456789abcdef');
CREATE OR REPLACE MACRO ledger_new(tbl, ledger, entity := NULL, key := 'env:ANON_KEY') AS TABLE
WITH
__anon_new AS (
    SELECT system.main.unnest(__anon_ledger_new_persons(__anon_told, __anon_entries))
        AS __anon_text
    FROM __anon_persons_of('ledger_new', tbl, entity, key, ledger), __anon_ledger_listed(ledger)
),
__anon_rows AS (
    SELECT *, COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
        OR coalesce(__anon_fold(__anon_c) = __anon_fold(entity::VARCHAR), false))::VARCHAR
        AS '__anon_person_\0'
    FROM (SELECT *, NULL::VARCHAR AS __anon_zero FROM query_table(tbl))
),
__anon_whose AS (
    SELECT *, system.main.concat(*COLUMNS('^__anon_person_')) AS __anon_person_of FROM __anon_rows
)
SELECT COLUMNS(lambda __anon_c: __anon_c <> '__anon_zero' AND __anon_c[:14] <> '__anon_person_')
FROM __anon_whose SEMI JOIN __anon_new ON __anon_person_of = __anon_text;
