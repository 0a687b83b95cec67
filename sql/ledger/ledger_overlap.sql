-- The earlier releases in a ledger and how many persons of a table each of them holds.
--
-- tbl: name of the table. ledger: name of the ledger. entity: column that identifies persons; its
--   values are compared as DuckDB prints them, so 5 and '5' are the same person.
-- key: the key of the ledger, as in anon_pseudonym.
-- Returns: a row per entry of the ledger: release, released_at (TIMESTAMP, UTC), persons (of that
--   release), shared (those who are in the table, too), share (of the persons of the table, 0…1).
--   The last two are NULL for an entry that was made with another key.
-- Errors: a table that is no ledger, an unknown entity or one with NULL, a key as in anon_pseudonym.
-- Example: SELECT * FROM ledger_overlap('people', 'anon_ledger', entity := 'city', key := '0123456789abcdef');
CREATE OR REPLACE MACRO ledger_overlap(tbl, ledger, entity := NULL, key := 'env:ANON_KEY') AS TABLE
SELECT
    release, released_at, persons,
    if(key_check = __anon_told.key_check,
        system.main.len(system.main.list_intersect(person_hashes, __anon_told.hashes)), NULL)
        AS shared,
    shared / system.main.nullif(system.main.len(__anon_told.hashes), 0) AS share
FROM __anon_ledger_entries(ledger), __anon_persons_of('ledger_overlap', tbl, entity, key, ledger)
ORDER BY released_at, release;
