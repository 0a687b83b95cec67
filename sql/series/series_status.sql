-- Summary of each release in a series, one row per release.
--
-- state: name of the state, which series_next has made.
-- Returns: release (BIGINT, from 1), made_at (TIMESTAMP, UTC), cohorts, present (people of the table
--   with a cohort), former (rows of people who have left), waiting (people without a cohort), withheld
--   (people of the table who are never released again), changed (present people whose values are not
--   the released ones), largest_waiting_share (of a group that was divided into cohorts, 0…1), l. If it
--   is above 0.1, a person of that group is likelier to have one of its frequent values than 1/l.
-- Errors: a relation that is not a state.
-- Example: SELECT * FROM series_status('anon_series');
CREATE OR REPLACE MACRO series_status(state) AS TABLE
SELECT * REPLACE (made_at::TIMESTAMP AS made_at)
FROM (
    SELECT unnest(__anon_series_status(__anon_state, __anon_state_types), max_depth := 2)
    FROM __anon_series_state(state));
