-- The state of a series without some persons: their cohorts are withdrawn whole, as series_next does with
-- leavers := 'withdraw'. The other members of these cohorts are not released again. Delete the persons
-- from the table, too: who stays in it counts as new at the next series_next.
--
-- state: name of the state. persons: list of the persons' values in the column entity.
-- key: the key of the series.
-- Returns: the state, as series_next does. Save it in place of the other.
-- Errors: a relation that is no state, a key as in anon_pseudonym or another than that of the series.
-- Example: SELECT * FROM series_forget('anon_series', [1], key := '0123456789abcdef');
CREATE OR REPLACE MACRO series_forget(state, persons, key := 'env:ANON_KEY') AS TABLE
SELECT unnest(
    __anon_series_forget_persons(
        __anon_state, __anon_state_types, persons::VARCHAR[],
        __anon_columns_hold_key('series_forget', __anon_db(), key)),
    max_depth := 2)
FROM __anon_series_state(state);
