-- What the raw table holds in each quasi-identifier: the range of a number, the distinct values
-- of a text. Ends are printed, since a label prints them too: both are read the same way, so
-- equal values stay equal.

-- A printed number, date or time as a DOUBLE (days, micro- or nanoseconds); NULL for other text.
CREATE OR REPLACE MACRO __anon_point(__anon_x, __anon_type) AS CASE
    WHEN __anon_type = 'DATE' THEN (try_cast(__anon_x AS DATE) - DATE '1970-01-01')::DOUBLE
    WHEN __anon_type = 'TIME' THEN epoch_us(try_cast(__anon_x AS TIME))::DOUBLE
    WHEN __anon_type = 'TIME_NS' THEN epoch_ns(try_cast(__anon_x AS TIME_NS))::DOUBLE
    WHEN __anon_type = 'TIMESTAMP_NS' THEN epoch_ns(try_cast(__anon_x AS TIMESTAMP_NS))::DOUBLE
    WHEN __anon_type = 'TIMESTAMP WITH TIME ZONE'
        THEN epoch_us(try_cast(__anon_x AS TIMESTAMPTZ))::DOUBLE
    WHEN __anon_type[:9] = 'TIMESTAMP' THEN epoch_us(try_cast(__anon_x AS TIMESTAMP))::DOUBLE
    WHEN __anon_type = 'FLOAT' THEN try_cast(__anon_x AS FLOAT)::DOUBLE
    ELSE try_cast(__anon_x AS DOUBLE)
END;

-- type is NULL for text. label_like: some text is what a label shows only in quotes.
CREATE OR REPLACE MACRO __anon_text_domain(x) AS {
    'type': NULL::VARCHAR, 'low': NULL::VARCHAR, 'high': NULL::VARCHAR,
    'distinct': count(DISTINCT x), 'nulls': count(*) > count(x),
    'label_like': coalesce(bool_or(x::VARCHAR = '*' OR (x::VARCHAR)[1] IN ('{', '''')), false)};
CREATE OR REPLACE MACRO __anon_number_domain(x) AS {
    'type': typeof(min(x)), 'low': min(x)::VARCHAR, 'high': max(x)::VARCHAR,
    'distinct': 0, 'nulls': count(*) > count(x), 'label_like': false};

-- The probe chooses by its type and leaves the value the type it has.
CREATE OR REPLACE MACRO __anon_domain_by
    (probe, x) AS __anon_text_domain(NULL::VARCHAR),
    (probe VARCHAR, x) AS __anon_text_domain(x),
    (probe BOOLEAN, x) AS __anon_text_domain(x),
    (probe UUID, x) AS __anon_text_domain(x),
    (probe DOUBLE, x) AS __anon_number_domain(x),
    (probe TIME, x) AS __anon_number_domain(x),
    (probe TIME_NS, x) AS __anon_number_domain(x),
    (probe TIMESTAMP, x) AS __anon_number_domain(x),
    (probe TIMESTAMPTZ, x) AS __anon_number_domain(x);
CREATE OR REPLACE MACRO __anon_domain(x) AS
    __anon_domain_by(list_extract(list_value(x), 1), x);

-- A column's name as DuckDB compares names: ASCII letters lowered.
CREATE OR REPLACE MACRO __anon_fold(__anon_x) AS
    translate(__anon_x, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz');

CREATE OR REPLACE MACRO __anon_entry(__anon_name, x) AS {
    'key': __anon_fold(__anon_name),
    'value': {
        'name': __anon_name, 'type': x.type, 'low': x.low, 'high': x.high,
        'least': __anon_point(x.low, x.type), 'most': __anon_point(x.high, x.type),
        'distinct': x.distinct, 'nulls': x.nulls, 'label_like': x.label_like}};

-- One row: a map from folded names to what each column holds, and the number of rows.
-- __anon_zero stands in where no column is a quasi-identifier, so that the check can say so.
CREATE OR REPLACE MACRO __anon_measure_domain(__anon_raw, __anon_call) AS TABLE
WITH
__anon_picked AS (
    SELECT COLUMNS(lambda __anon_c:
        __anon_is('quasi', __anon_c, __anon_call) OR __anon_c = '__anon_zero')
    FROM (SELECT *, 0 AS __anon_zero FROM query_table(__anon_raw))
),
__anon_held AS (
    SELECT __anon_domain(COLUMNS(*)), count(*) AS __anon_rows FROM __anon_picked
),
__anon_entries AS (
    SELECT
        __anon_entry(
            alias(COLUMNS(* EXCLUDE (__anon_rows))), COLUMNS(* EXCLUDE (__anon_rows))),
        __anon_rows
    FROM __anon_held
)
SELECT
    map_from_entries(list_value(*COLUMNS(* EXCLUDE (__anon_rows)))) AS __anon_domains,
    __anon_rows
FROM __anon_entries;
