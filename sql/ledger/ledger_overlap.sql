-- The earlier releases in a ledger, and how many people of a table each of them holds.
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
-- Returns: a row per entry of the ledger: release, released_at (TIMESTAMP, UTC), persons (of that
--   release), shared (those who are in the table, too), share (of the people of the table, 0…1).
--   The last two are NULL for an entry that was made with another key. With k or l, and if new people
--   wait, a last row whose release and released_at are NULL counts them in persons and shared.
-- Errors: a table that is not a ledger; an entry that was changed after ledger_entry made it, or is of
--   another column than entity; an unknown entity or one with NULL, a key as in anon_pseudonym;
--   with k or l those of ledger_new.
-- Example: SELECT * FROM ledger_overlap('people', 'anon_ledger', entity := 'city', key := '0123456789abcdef');
CREATE OR REPLACE MACRO ledger_overlap(
    tbl, ledger, entity := NULL, key := 'env:ANON_KEY', k := NULL, l := NULL, sensitive := NULL
) AS TABLE
WITH
__anon_counted AS (
    SELECT
        system.main.unnest(__anon_entries) AS __anon_entry,
        system.main.unnest(__anon_ledger_shared_persons(__anon_told, __anon_entries)) AS __anon_shared,
        system.main.len(__anon_told.hashes) AS __anon_persons
    FROM __anon_persons_of('ledger_overlap', tbl, entity, key, ledger), __anon_ledger_listed(ledger)
),
-- A CTE is bound if it is named: without k and l no one waits.
__anon_no_one AS NOT MATERIALIZED (
    SELECT
        NULL::VARCHAR AS release, NULL::TIMESTAMP AS released_at, NULL::BIGINT AS persons,
        NULL::BIGINT AS shared, NULL::DOUBLE AS share
    WHERE false
),
__anon_who_waits AS NOT MATERIALIZED (
    SELECT
        NULL::VARCHAR AS release, NULL::TIMESTAMP AS released_at, __anon_waits AS persons,
        __anon_waits AS shared,
        __anon_waits / system.main.nullif(system.main.len(__anon_told.hashes), 0) AS share
    FROM
        (SELECT system.main.max(__anon_waits) AS __anon_waits FROM __anon_ledger_new_rows(
            'ledger_overlap', tbl, ledger, entity, key, k, l, sensitive)),
        __anon_persons_of('ledger_overlap', tbl, entity, key, ledger)
    WHERE __anon_waits > 0
)
FROM (
    SELECT
        __anon_entry.release AS release,
        system.main.make_timestamp(__anon_entry.released_at) AS released_at,
        __anon_entry.persons AS persons, __anon_shared AS shared,
        __anon_shared / system.main.nullif(__anon_persons, 0) AS share
    FROM __anon_counted
    UNION ALL
    FROM query_table(if(k IS NULL AND l IS NULL, '__anon_no_one', '__anon_who_waits')))
ORDER BY released_at NULLS LAST, release;
