-- How many exact values an attacker who knows the method can guess from the labels (downcoding). The
-- ends of a range that is not wider than its class are values of the class: a guess is one of the two
-- ends. For a node of a hierarchy it is the child with the most released rows. Rows with * or NULL in a
-- column do not count in it; neither do sets of text, which hide no value of their class. bin_width := MAP
-- {'age': 5} of a release function lowers what can be guessed.
--
-- raw: name of the raw table. released: name of its release, with labels or typed values.
-- id: kept column that identifies the rows of both relations, by which guesses are compared with
--   the raw table; NULL for none: only rows and exact are counted.
-- quasi: the quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- Returns: a row per quasi-identifier of numbers, dates or times, or with a hierarchy: attribute, rows
--   (with a label of the column), exact (rows whose label is a single value) with exact_share (0…1),
--   ends (rows whose value is an end of their label). For the other rows: guessed (expected
--   number of right guesses), uniform (the same if any value in the label is guessed; for a node, any
--   leaf below it), frequent (the same if the value in the label is guessed that is most frequent when
--   the rows of each label are spread evenly over its values), gain (guessed less the larger of these two, per
--   row). known_share (rows that are exact or rightly guessed in the best of these ways, 0…1), sure
--   (ends of ranges, two a class, if each is a value of its class; 0 if one is not, because an
--   attacker cannot tell which are). ends, frequent and sure are NULL for a column with a hierarchy.
-- Errors: no quasi-identifier, one that the release lacks or shows as means, a label that cannot be
--   read, raw and release swapped; an id that does not identify rows or that a relation lacks.
-- Example: SELECT * FROM attack_downcoding('people', 'release', quasi := ['age', 'city']);
CREATE OR REPLACE MACRO attack_downcoding(
    raw, released, id := NULL, quasi := NULL, hierarchy := NULL
) AS TABLE
WITH
__anon_classed AS (
    FROM __anon_identified_groups(released, __anon_measure_call(raw, quasi, NULL), id)
),
__anon_raw_listed AS (
    SELECT __anon_listed AS __anon_raw_lists
    FROM __anon_value_lists(raw, __anon_measure_call(raw, quasi, NULL), id)
)
SELECT system.main.unnest(
    __anon_attacks_downcoded(__anon_given, id::VARCHAR, __anon_raw_lists), recursive := true)
FROM
    __anon_given(raw, released, __anon_measure_call(raw, quasi, NULL), hierarchy, '__anon_classed'),
    __anon_raw_listed;
