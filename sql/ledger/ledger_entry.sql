-- The entry of a release for a ledger, a table that anon_sql.ledger makes: INSERT INTO anon_ledger
-- FROM ledger_entry(…). It holds the
-- manifest, a hash of the released rows and a keyed hash of each person, and no value of the data.
-- By the hashes, ledger_overlap can tell which people are released again.
--
-- raw: name of the raw table; all its people count as released. released: name of its release.
-- name: name of the release in the ledger. entity: column of the raw table that identifies people;
--   the same for all entries of a ledger.
-- manifest: the manifest as JSON: (SELECT to_json(m) FROM anon_manifest(…) AS m).
-- key: as in anon_pseudonym; the same for all entries of a ledger. Without it no one can test from
--   the ledger whether a person was released, and the overlap cannot be told.
-- Returns: one row: release, released_at (TIMESTAMP, UTC), rows_sha256 (of the released rows in any
--   order), manifest (JSON), entity, entity_type (the column and its SQL type), key_check (hash by
--   which entries with another key are seen), persons (BIGINT), person_hashes (BLOB[], 16 bytes each,
--   sorted), digest (keyed hash of all these, by which a changed entry is seen).
-- Errors: no name, no manifest, an unknown entity or one with NULL, a key as in anon_pseudonym.
-- Example: SELECT * FROM ledger_entry('people', 'release', 'May', entity := 'city', manifest := '{"manifest": 1}', key := '0123456789abcdef');
CREATE OR REPLACE MACRO ledger_entry(
    raw, released, name, entity := NULL, manifest := NULL, key := 'env:ANON_KEY'
) AS TABLE
WITH __anon_made AS MATERIALIZED (
    SELECT
        __anon_ledger_required_text('name', name::VARCHAR) AS release,
        system.main.make_timestamp(system.main.epoch_us(system.main.now())) AS released_at,
        __anon_sha256 AS rows_sha256,
        __anon_ledger_required_text('manifest', manifest::VARCHAR)::JSON AS manifest,
        __anon_told.entity, __anon_told.entity_type, __anon_told.key_check,
        system.main.len(__anon_told.hashes) AS persons, __anon_told.hashes AS person_hashes,
        __anon_told.key AS __anon_key
    FROM __anon_persons_of('ledger_entry', raw, entity, key), __anon_rows_sha256(released)
)
FROM __anon_ledger_columns()
UNION ALL
SELECT
    * EXCLUDE (__anon_key), __anon_ledger_digest_of_entry(__anon_entry(__anon_made), __anon_key)
FROM __anon_made;
