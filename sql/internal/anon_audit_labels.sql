-- The labels of an audited release, read in the types of the raw columns.
--
-- Macros that take a `probe` choose by its type and leave the value the type it has.

-- A label and a NULL of the raw column's type, brought together by the column's name.
CREATE OR REPLACE MACRO __anon_audit_label(x) AS {'shown': x, 'value': NULL};
CREATE OR REPLACE MACRO __anon_audit_value(x) AS {'shown': NULL, 'value': x};

-- The ends of a label as text; NULL for *, since a cast that fails takes long.
CREATE OR REPLACE MACRO __anon_audit_low(x) AS CASE
    WHEN x[1] = '[' THEN split_part(x[2:], ', ', 1)
    WHEN x <> '*' THEN x
END;
CREATE OR REPLACE MACRO __anon_audit_high(x) AS CASE
    WHEN x[1] <> '[' THEN nullif(x, '*')
    WHEN x[-1] = ']' THEN x[strpos(x, ', ') + 2:-2]
END;

-- shown: as text; low, high: ends in the raw type, and as it prints them; words: of a typed set.
CREATE OR REPLACE MACRO __anon_audit_ends(x, __anon_low, __anon_high) AS {
    'shown': x::VARCHAR, 'low': __anon_low, 'high': __anon_high,
    'printed_low': __anon_text(list_extract(list_value(__anon_low), 1)),
    'printed_high': __anon_text(list_extract(list_value(__anon_high), 1))};
-- What is neither label, struct nor list reads as NULL; its type is refused elsewhere.
CREATE OR REPLACE MACRO __anon_audit_struct(x, v) AS __anon_audit_ends(
    x, try(cast_to_type(x.min, v)), try(cast_to_type(x.max, v)));
CREATE OR REPLACE MACRO __anon_audit_list(x) AS {'shown': x::VARCHAR, 'words': x};
CREATE OR REPLACE MACRO __anon_audit_number
    (x, v) AS __anon_audit_struct(try_cast(x AS STRUCT(min VARCHAR, max VARCHAR)), v),
    (x VARCHAR, v) AS __anon_audit_ends(
        x, try(cast_to_type(__anon_audit_low(x), v)), try(cast_to_type(__anon_audit_high(x), v)));
CREATE OR REPLACE MACRO __anon_audit_text
    (x) AS __anon_audit_list(try_cast(x AS VARCHAR[])),
    (x VARCHAR) AS {'shown': x::VARCHAR};
CREATE OR REPLACE MACRO __anon_audit_by
    (probe, x, v) AS __anon_audit_text(x),
    (probe VARCHAR, x, v) AS __anon_audit_text(x),
    (probe BOOLEAN, x, v) AS __anon_audit_text(x),
    (probe UUID, x, v) AS __anon_audit_text(x),
    (probe DOUBLE, x, v) AS __anon_audit_number(x, v),
    (probe TIME, x, v) AS __anon_audit_number(x, v),
    (probe TIME_NS, x, v) AS __anon_audit_number(x, v),
    (probe TIMESTAMP, x, v) AS __anon_audit_number(x, v),
    (probe TIMESTAMPTZ, x, v) AS __anon_audit_number(x, v);
CREATE OR REPLACE MACRO __anon_audit_read(c) AS __anon_audit_by(list_extract(list_value(c.value), 1), c.shown, c.value);

-- One row: of every class its labels (a list of structs a column), size, number and marks. Takes
-- the name of a CTE: the classes.
CREATE OR REPLACE MACRO __anon_audit_lists(__anon_numbered, __anon_raw, __anon_call) AS TABLE
WITH
__anon_beside AS (
    (SELECT
        __anon_audit_label(COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_is('quasi', __anon_c, __anon_call))),
        COLUMNS(lambda __anon_c: __anon_c IN ('__anon_size', '__anon_class')
            OR __anon_c[:12] = '__anon_mark_')
     FROM query_table(__anon_numbered))
    UNION ALL BY NAME
    (SELECT __anon_audit_value(COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
        OR __anon_is('quasi', __anon_c, __anon_call)))
     FROM (SELECT *, 0 AS __anon_zero FROM query_table(__anon_raw)) LIMIT 0)
)
SELECT
    list(__anon_audit_read(COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
        OR __anon_is('quasi', __anon_c, __anon_call)))),
    list(COLUMNS(lambda __anon_c: __anon_c IN ('__anon_size', '__anon_class')
        OR __anon_c[:12] = '__anon_mark_'))
FROM __anon_beside;
