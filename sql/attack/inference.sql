-- Whether a secret can be inferred: an attacker who knows all quasi-identifiers of a person guesses the
-- most frequent value of the released rows that match. The same guess for people of a control, who
-- are not in the table, shows what the population tells anyway. Only what exceeds it comes from
-- being in the table. attack_inference counts classes instead, without a control.
--
-- raw: name of the raw table. released: name of its release, in label or typed format. A release
--   with added rows is also read.
-- secret: column or list of columns that the attacker guesses; NULL means the sensitive columns
--   declared in comments on the raw table.
-- control: people who are not in the raw table. They show how often the attack succeeds without
--   anything of them in the release; NULL for none; gain is NULL then.
-- attempts: maximum number of attempts of each attack, drawn at random by seed; NULL means all.
-- seed: seed for random choices.
-- quasi: the quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- Returns: a row per secret, whose attack is its name: attack, attempts, successes (tied guesses count in
--   parts), rate (of the attempts), control_rate (the same for the control; NULL without one),
--   naive_rate (of guesses without the release), gain ((rate - control_rate) / (1 - control_rate), 0 to 1
--   or below 0 by chance), low and high (95 % interval of gain after Wilson, or of rate without a
--   control). Rates are NULL without attempts.
-- Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw and release
--   swapped, a control that lacks a column, has it in another type, has no rows or has people of the raw
--   table, fewer than one attempt.
-- Example: SELECT * FROM inference('people', 'release', secret := 'illness', quasi := ['age', 'city']);
CREATE OR REPLACE MACRO inference(
    raw, released, secret := NULL, control := NULL, attempts := 2000, seed := 42, quasi := NULL,
    hierarchy := NULL
) AS TABLE
SELECT system.main.unnest(__anon_criteria_inferred(
    __anon_given, __anon_persons, __anon_controls, __anon_types, system.main.struct_pack(
        attempts := attempts, seed := seed),
    system.main.current_setting('threads')), recursive := true)
FROM __anon_attacked(
    raw, released, control, __anon_measure_call(raw, quasi, secret), 'sensitive', hierarchy);
