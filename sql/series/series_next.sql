-- The next state of a series of releases. Newcomers are placed into cohorts of l or more people with
-- different sensitive values. A person is placed once: a member who leaves, or whose values change,
-- stays in the cohort with the values of entry, and no member of a cohort that is gone is released
-- again. Releases of these cohorts can be made again and again (anonymize with series). The state is
-- private, like the raw table: save it as a table. The same table, state and key give the same cohorts.
--
-- As in every release: tbl, quasi, sensitive, identifiers, keep, entity, hierarchy, exclude.
-- state: the state of the series before; NULL means that the series begins.
-- l: least number of people of a cohort, at least 2, all with different sensitive values; it is
--   chosen for the first state; NULL means 2 for the first state, and later that of the series.
-- leaf: rows of the groups in which newcomers are divided into cohorts, before they are halved;
--   NULL means 40 where l is 2, and 80 above.
-- waiting: expected share of people who wait, 0…1, up to which such a group is halved; NULL means
--   0.02 where l is 2, and 0.05 above.
-- leavers: 'keep' shows the row of a person who has left until the last one of the cohort has left;
--   'withdraw' withdraws the whole cohort at once; either way, no member of a cohort that is gone
--   is ever released again.
-- key: secret key of the series, as in anon_pseudonym; the same for all its states.
-- Returns: the state, rows in random order: cohort (BIGINT), person (VARCHAR, a keyed hash), tuple
--   (VARCHAR, JSON or a keyed digest).
-- Errors: no entity or one with NULL, a person with several rows, a missing sensitive value, an l
--   above the number of values, a table without rows, a state of another key, version or other columns,
--   a key as in anon_pseudonym, and those of a release.
-- Example: SELECT * FROM series_next('persons', l := 2, quasi := ['age', 'city'], sensitive := 'illness', entity := 'person', key := '0123456789abcdef');
CREATE OR REPLACE MACRO series_next(
    tbl, state := NULL, quasi := NULL, sensitive := NULL, identifiers := NULL, keep := NULL,
    entity := NULL, hierarchy := NULL, l := NULL, leaf := NULL, waiting := NULL, leavers := 'keep',
    key := 'env:ANON_KEY', exclude := NULL
) AS TABLE
SELECT unnest(
    __anon_series_next(
        __anon_buffer, __anon_people, __anon_path_rows, __anon_types, __anon_state,
        __anon_state_types,
        system.main.struct_pack(
            asked_l := l, leaf := leaf, waiting := waiting, leavers := leavers),
        __anon_columns_hold_key('series_next', __anon_db(), key), __anon_looks),
    max_depth := 2)
FROM
    __anon_series_people(
        'series_next', tbl, 1, __anon_scope(tbl, system.main.struct_pack(
            quasi := quasi, sensitive := sensitive, identifiers := identifiers, keep := keep,
            entity := entity, exclude := exclude)),
        system.main.struct_pack(l := 1), hierarchy, entity),
    __anon_series_state(state);
