-- What the releases of a series were about, a row per release.
--
-- state: name of the state, which series_next has made.
-- Returns: release (BIGINT, from 1), made_at (TIMESTAMP, UTC), cohorts, present (persons with a cohort
--   who are in the table), former (rows of persons who have left or changed), waiting (persons without
--   a cohort), withheld (persons who are never released again), largest_waiting_share (of a group that
--   was divided into cohorts, 0…1), l. Above 0.1 somebody of that group is more likely to have one of its
--   frequent values than 1/l says.
-- Errors: a relation that is no state.
-- Example: SELECT * FROM series_status('anon_series');
CREATE OR REPLACE MACRO series_status(state) AS TABLE
SELECT * REPLACE (made_at::TIMESTAMP AS made_at)
FROM (
    SELECT unnest(__anon_series_status(__anon_state, __anon_state_types), max_depth := 2)
    FROM __anon_series_state(state));
