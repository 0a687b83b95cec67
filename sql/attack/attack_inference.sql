-- What an attacker can infer about a person's sensitive value from their class. It counts rows in
-- four kinds of classes: with one value (certain, as attack_homogeneity finds); with a value that most
-- rows have (inferred); with a value many times as frequent as in the raw table (lifted); and with
-- numbers that lie close together (near). The last three count classes of two or more values. NULL is not a value:
-- shares are those of the rows with a value. An attacker learns little from the most frequent value of
-- the raw table: it is inferred only if, besides, all other values together are at most a hundredth as
-- frequent in the class as in the raw table. Suppressed rows, shown as *, are a class; rows left out publish nothing.
--
-- raw: name of the raw table. released: name of its release, in any format. A release with added
--   rows is also read.
-- sensitive: sensitive column or list of columns, in addition to those declared.
-- sure: a value is inferred of a class in which its share is at least this.
-- lift: a value is lifted in a class in which its share is at least lift times that in the raw
--   table, and at least lift_share.
-- lift_share: the least share of a value that is lifted.
-- within: numbers of a class are near if they differ by at most this share of the distance between
--   the 5th and the 95th percentile of the raw table.
-- quasi: the quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- Returns: a row per sensitive column: attribute, rows (of the release); certain, inferred, lifted
--   and near (rows of such classes) with certain_share, inferred_share, lifted_share and near_share
--   (0…1, NULL for an empty release), near is NULL for what is no number, date or time; even_values
--   (exp of the entropy of the column in the raw table: as many equally frequent values are as hard
--   to guess; a column of 94 to 6 % is worth 1.25).
-- Errors: no quasi-identifier or sensitive column, one that the release lacks, a label that cannot
--   be read, raw and release swapped, a parameter out of its range.
-- Example: SELECT * FROM attack_inference('people', 'release', 'illness', quasi := ['age', 'city']);
CREATE OR REPLACE MACRO attack_inference(
    raw, released, sensitive := NULL, sure := 0.8, lift := 5.0, lift_share := 0.3, within := 0.05,
    quasi := NULL, hierarchy := NULL
) AS TABLE
WITH __anon_classed AS (
    FROM __anon_class_groups(
        released, raw, __anon_measure_call(raw, quasi, sensitive), 'sensitive')
)
SELECT system.main.unnest(
    __anon_attacks_inferred(__anon_given, __anon_groups, system.main.struct_pack(
        sure := sure, lift := lift, lift_share := lift_share, within := within)),
    recursive := true)
FROM
    __anon_given(raw, released, __anon_measure_call(raw, quasi, sensitive), hierarchy, '__anon_classed'),
    __anon_key_groups(
        raw, released, __anon_measure_call(raw, quasi, sensitive), 'sensitive', __anon_valued := true);
