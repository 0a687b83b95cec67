-- A date that is shifted by a secret number of days. The number is the same for all dates of one
-- person, so that the time between them stays the same.
--
-- date: a DATE or TIMESTAMP. entity: identifies the person, of a type as in anon_pseudonym.
-- key: as in anon_pseudonym. days: the shift is a number from -days to days without 0, each equally
--   likely, determined by the entity and the key; from 1 to 36525.
-- Returns: the type of date; NULL if date or entity is NULL, because without a person the shift is
--   unknown and the date would be released unchanged.
-- Errors: those of anon_pseudonym; a date of another type, days below 1.
-- Example: SELECT anon_shift(DATE '2024-02-28', 'Ada', '0123456789abcdef') AS visited;
CREATE OR REPLACE MACRO anon_shift(date, entity, key := NULL, days := 30) AS
    system.main.cast_to_type(
        TRY_CAST(date AS TIMESTAMP) + system.main.to_days(__anon_columns_shift_days(
            system.main.typeof(date), system.main.typeof(entity), entity::VARCHAR,
            __anon_columns_hold_key('anon_shift', __anon_db(), key), days)),
        date);
