-- Whether a record can be isolated (singled out): how many predicates that are written from the release
-- alone match exactly one raw row. On one column, a predicate says that the value is an end of a
-- range or a member of a set; on all columns the same, or that a label covers the value. The same
-- predicates on a control of people who are not in the table show what would be isolated anyway.
--
-- raw: name of the raw table. released: name of its release, in label or typed format. A release
--   with added rows is also read.
-- control: people who are not in the raw table. They show how often the attack succeeds without
--   anything of them in the release; NULL for none; gain is NULL then.
-- attempts: maximum number of attempts of each attack, drawn at random by seed; NULL means all.
-- seed: seed for random choices.
-- quasi: the quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- Returns: two rows, for predicates on 'one column' and on 'all columns': attack, attempts, successes (tied guesses count in
--   parts), rate (of the attempts), control_rate (the same for the control; NULL without one),
--   naive_rate (of guesses without the release), gain ((rate - control_rate) / (1 - control_rate), 0 to 1
--   or below 0 by chance), low and high (95 % interval of gain after Wilson, or of rate without a
--   control). Rates are NULL without attempts.
-- Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw and release
--   swapped, a control that lacks a column, has it in another type, has no rows or has people of the raw
--   table, fewer than one attempt.
-- Example: SELECT * FROM isolation('people', 'release', quasi := ['age', 'city']);
CREATE OR REPLACE MACRO isolation(
    raw, released, control := NULL, attempts := 2000, seed := 42, quasi := NULL, hierarchy := NULL
) AS TABLE
SELECT system.main.unnest(__anon_criteria_isolated(
    __anon_given, __anon_persons, __anon_controls, __anon_types, system.main.struct_pack(
        attempts := attempts, seed := seed),
    system.main.current_setting('threads')), recursive := true)
FROM __anon_attacked(
    raw, released, control, __anon_measure_call(raw, quasi, NULL), 'none', hierarchy);
