-- The state of a series without some people: their cohorts are withdrawn whole, as series_next does with
-- leavers := 'withdraw'. No member of these cohorts is released again. The state keeps a keyed hash of each
-- of them, because a person who is placed twice can be found by intersection.
--
-- state: name of the state. persons: list of the people's values in the column entity.
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
