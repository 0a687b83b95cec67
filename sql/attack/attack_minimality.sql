-- What an attacker learns who knows how a release was made, beyond what the class of a person tells
-- (minimality attack, Wong et al. 2007). The attacker knows the method, its parameters, the seed and
-- the quasi-identifiers of all people, and which class each person is in. In each of many worlds the
-- released values of every class are dealt to its people in another way, and the release is made
-- again. The worlds in which a class comes out as it was released are equally likely. The attacker
-- names the value whose share in them has grown most above its share in the class. Its odds must have
-- grown surer times, and chance must not explain it (binomial tests, of which at most 5 % may be
-- false: Benjamini and Hochberg 1995). Without a constraint on sensitive values two worlds show that
-- classes do not depend on them. The attacker lacks the key of a transparent release, and tries
-- another in each world. Pass the parameters that the release was made with.
--
-- As in every release: k, l, quasi, sensitive, identifiers, keep, exclude, l_kind, c, t, beta,
--   beta_kind, delta, max_share, entity, format, suppressed, hierarchy, strata, weights, bin_width,
--   ordered.
-- raw: name of the raw table. released: name of its release, in any format.
-- method: release method that made the release.
-- seed: seed for random choices. It also draws the worlds.
-- key: secret key, as in anon_pseudonym: random choices depend on it and on the seed, and cannot be
--   repeated without it; NULL for none.
-- options: parameters of the method, such as {'anonymize': {'effort': 'fast'}}; all others keep
--   their defaults.
-- runs: how many worlds are drawn; where there are at most 2,000, all are tried instead; NULL means
--   1,500,000 divided by the number of rows, at least 40 and at most 250.
-- surer: a value is claimed if its odds have grown at least this many times above those in the
--   class.
-- transparent: true makes classes that tell no more than the constraints allow, even to an attacker
--   who knows the method and all parameters except the key; no value has a share above 1/l.
-- transparent_by: how: 'groups' divides rows into groups whose values can be exchanged; 'size'
--   makes larger and larger classes without looking at values until all satisfy the constraints, so
--   that they tell one number, but it bounds no share.
-- Returns: a row per sensitive column: attribute, persons (rows of the release), claimed (people
--   whose value is named), correct (of these), correct_share (0…1) with low and high (the ends of its
--   95 % interval, Wilson 1927), baseline_share (0…1, what would be correct of the same claims if the
--   values of each class were dealt at random), certain (claims with a single value in all worlds
--   that agree), gain (0…1, the share of people who are told beyond their class: correct claims less
--   those by the baseline; 0 where the interval does not exclude chance), runs, every_world (whether
--   there are no other worlds, so that shares are exact);
--   control_claimed, control_correct_share and control_baseline_share: the same for an attacker who
--   does not know the seed and the key, NULL where random choices change no class.
-- Errors: no quasi-identifier or sensitive column, one that the release lacks, a release that the
--   call does not make, a method that adds rows, a parameter out of its range.
-- Example: SELECT * FROM attack_minimality('people', 'release', method := 'rayden', k := 5, quasi := ['age', 'city'], sensitive := 'illness');
CREATE OR REPLACE MACRO attack_minimality(
    raw, released, method := 'anonymize', k := 5, l := 1, quasi := NULL, sensitive := NULL,
    identifiers := NULL, keep := NULL, exclude := NULL, l_kind := 'distinct', c := 3, t := 1.0,
    beta := NULL, beta_kind := 'enhanced', delta := NULL, max_share := NULL, entity := NULL,
    format := 'label', suppressed := 'keep', seed := 42, hierarchy := NULL, strata := NULL,
    weights := NULL, bin_width := NULL, key := NULL, options := NULL, runs := NULL, surer := 2.0,
    transparent := false, transparent_by := 'groups', ordered := NULL
) AS TABLE
WITH __anon_classed AS (
    FROM __anon_class_groups(
        released, raw, __anon_roles_call(raw, quasi, sensitive, identifiers, keep, exclude, entity),
        'sensitive')
)
SELECT system.main.unnest(
    __anon_attacks_claimed(
        __anon_given, __anon_buffer, __anon_row_numbers(__anon_rows), __anon_path_rows),
    recursive := true)
FROM
    __anon_given(
        raw, released, __anon_roles_call(raw, quasi, sensitive, identifiers, keep, exclude, entity),
        hierarchy, '__anon_classed'),
    __anon_table(
        -- an l of 2, so that the sensitive values are passed to the core; the options say the own one
        'attack_minimality', raw, k, __anon_scope(raw, system.main.struct_pack(
            bound := system.main.struct_pack(
                l := l, quasi := quasi, sensitive := sensitive, identifiers := identifiers,
                keep := keep, exclude := exclude, t := t, beta := beta, delta := delta,
                max_share := max_share, entity := entity),
            l := 2)),
        system.main.struct_insert(system.main.struct_pack(
            method := method, l_kind := l_kind, c := c, beta_kind := beta_kind, format := format,
            suppressed := suppressed, seed := seed, strata := strata, weights := weights,
            bin_width := bin_width, options := options, runs := runs, surer := surer,
            transparent := transparent, transparent_by := transparent_by, ordered := ordered),
            l := l, key := __anon_choices_key('attack_minimality', key)),
        hierarchy, 'none');
