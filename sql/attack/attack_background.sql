-- How often an attacker guesses a person's sensitive value who knows some of their
-- quasi-identifiers and names the most frequent value among the rows that can be theirs (Majeed
-- and Hwang 2025). Which ones are known is drawn for each person. A row can be theirs where its
-- labels cover the known values, as every row does that is shown as *; labels overlap.
--
-- raw: name of the original table. released: name of its release, label or typed format; one with
--   added rows is read too.
-- sensitive: a name or a list of names, besides those declared.
-- known: how many quasi-identifiers are known of a person, from 0 to all.
-- sample: at most so many persons are attacked, drawn by seed; NULL for all. seed: of all draws.
-- qids: the quasi-identifiers; NULL means as declared in comments on the raw table.
-- hierarchy: the relation that the release was made with; NULL for none.
-- Returns: a row per sensitive column: attribute, persons (attacked), guessed (how many of the
--   guesses are right; where several values are the most frequent, each is taken as often),
--   guessed_share (of persons), baseline (the same share where nothing is known of a person: only
--   what is above it is due to what the attacker knows). A person whose value is NULL is never
--   guessed. Both shares are NULL where nobody is attacked.
-- Errors: no quasi-identifier or sensitive column, one that the release lacks, a label that cannot
--   be read, raw and release swapped, a sample below 1, more known than there are.
-- Example: SELECT * FROM attack_background('people', 'release', 'illness', known := 1, qids := ['age', 'city']);
CREATE OR REPLACE MACRO attack_background(
    raw, released, sensitive := NULL, known := 2, sample := 50000, seed := 42,
    qids := NULL, hierarchy := NULL
) AS TABLE
SELECT unnest(__anon_attack_background(
    {'known': known, 'sample': sample, 'seed': seed, 'threads': current_setting('threads'),
     'sensitive': __anon_protects.sensitive, 'quasi': __anon_attributes},
    __anon_types, __anon_people, __anon_shows, __anon_counted, __anon_trees), recursive := true)
FROM __anon_attacked(
    'attack_background', raw, released, __anon_measure_call(raw, qids, sensitive), hierarchy);
