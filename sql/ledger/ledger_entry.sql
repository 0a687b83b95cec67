-- The entry of a release for a ledger, a table that anon_sql.ledger makes: INSERT INTO anon_ledger
-- FROM ledger_entry(…). It holds the manifest, a hash of the released rows and a keyed hash of each
-- person, so that ledger_overlap can tell which persons are released again, but no value of the data.
--
-- raw: name of the raw table; all its persons count as released. released: name of its release.
-- name: name of the release in the ledger. entity: column of the raw table that identifies persons.
-- manifest: the manifest as JSON: (SELECT to_json(m) FROM anon_manifest(…) AS m).
-- key: as in anon_pseudonym; the same for all entries of a ledger. Without it nobody can test from
--   the ledger whether a person was released, and the overlap cannot be told.
-- Returns: one row: release, released_at (TIMESTAMP, UTC), rows_sha256 (of the released rows in any
--   order), manifest (JSON), entity, key_check (hash by which entries with another key are seen),
--   persons (BIGINT), person_hashes (BLOB[], 16 bytes each, sorted).
-- Errors: no name, no manifest, an unknown entity or one with NULL, a key as in anon_pseudonym.
-- Example: SELECT * FROM ledger_entry('people', 'release', 'May', entity := 'city', manifest := '{"manifest": 1}', key := '0123456789abcdef');
CREATE OR REPLACE MACRO ledger_entry(
    raw, released, name, entity := NULL, manifest := NULL, key := 'env:ANON_KEY'
) AS TABLE
FROM __anon_ledger_columns()
UNION ALL
SELECT
    __anon_ledger_text('name', name::VARCHAR),
    system.main.make_timestamp(system.main.epoch_us(system.main.now())),
    __anon_sha256, __anon_ledger_text('manifest', manifest::VARCHAR)::JSON,
    __anon_told.entity, __anon_told.key_check, system.main.len(__anon_told.hashes),
    __anon_told.hashes
FROM __anon_persons_of('ledger_entry', raw, entity, key), __anon_rows_sha256(released);
