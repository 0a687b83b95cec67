-- What a condition on one quasi-identifier can tell apart: the axis of the column.
--
-- A text column's axis is its distinct values. A number's is the ends of all labels and the
-- constants of all queries, in order, and one value out of each gap between them: within a gap
-- no condition changes, so a label is as true as the points and gaps that it covers. DuckDB
-- itself evaluates the conditions on the axis, in the column's own type.
--
-- Macros that take a `probe` choose by its type and leave the value the type it has.

-- An aggregate: the values of a text column, the smallest and largest of a number.
CREATE OR REPLACE MACRO __anon_query_known_by
    (probe, v) AS list(DISTINCT v),
    (probe VARCHAR, v) AS list(DISTINCT v),
    (probe BOOLEAN, v) AS list(DISTINCT v),
    (probe UUID, v) AS list(DISTINCT v),
    (probe DOUBLE, v) AS [min(v), max(v)],
    (probe TIME, v) AS [min(v), max(v)],
    (probe TIME_NS, v) AS [min(v), max(v)],
    (probe TIMESTAMP, v) AS [min(v), max(v)],
    (probe TIMESTAMPTZ, v) AS [min(v), max(v)];
CREATE OR REPLACE MACRO __anon_query_known(v) AS
    __anon_query_known_by(list_extract(list_value(v), 1), v);

-- What label and constant add to the axis of a number; a constant beyond the column's range adds
-- nothing, and need not have a place in its type. (TRY would do, but loses values on DuckDB 1.5.)
CREATE OR REPLACE MACRO __anon_query_number(v, shown, printed, inside) AS {
    'ends': [cast_to_type(anon_min(shown), v), cast_to_type(anon_max(shown), v)],
    'constant': CASE WHEN inside THEN cast_to_type(printed, v) END};
CREATE OR REPLACE MACRO __anon_query_word(v) AS {
    'ends': list_value(v)[:0], 'constant': list_extract(list_value(v), 0)};
CREATE OR REPLACE MACRO __anon_query_adds
    (probe, v, shown, printed, known) AS __anon_query_word(v),
    (probe VARCHAR, v, shown, printed, known) AS __anon_query_word(v),
    (probe BOOLEAN, v, shown, printed, known) AS __anon_query_word(v),
    (probe UUID, v, shown, printed, known) AS __anon_query_word(v),
    (probe DOUBLE, v, shown, printed, known) AS __anon_query_number(
        v, shown, printed, TRY_CAST(printed AS DOUBLE) BETWEEN known[1]::DOUBLE AND known[2]::DOUBLE),
    (probe TIME, v, shown, printed, known) AS __anon_query_number(
        v, shown, printed, TRY_CAST(printed AS TIME) BETWEEN known[1]::TIME AND known[2]::TIME),
    (probe TIME_NS, v, shown, printed, known) AS __anon_query_number(
        v, shown, printed, TRY_CAST(printed AS TIME_NS) BETWEEN known[1]::TIME_NS AND known[2]::TIME_NS),
    (probe TIMESTAMP, v, shown, printed, known) AS __anon_query_number(
        v, shown, printed, TRY_CAST(printed AS TIMESTAMP) BETWEEN known[1]::TIMESTAMP AND known[2]::TIMESTAMP),
    (probe TIMESTAMPTZ, v, shown, printed, known) AS __anon_query_number(
        v, shown, printed, TRY_CAST(printed AS TIMESTAMPTZ) BETWEEN known[1]::TIMESTAMPTZ AND known[2]::TIMESTAMPTZ);

-- A value between two that follow each other; whatever is not between them is dropped.
CREATE OR REPLACE MACRO __anon_query_gap
    (probe, v, w) AS NULL,
    (probe VARCHAR, v, w) AS NULL,
    (probe BOOLEAN, v, w) AS NULL,
    (probe UUID, v, w) AS NULL,
    (probe BIGINT, v, w) AS w - 1,
    (probe UBIGINT, v, w) AS w - 1,
    (probe HUGEINT, v, w) AS w - 1,
    (probe UHUGEINT, v, w) AS w - 1,
    (probe DATE, v, w) AS w - 1,
    (probe DOUBLE, v, w) AS v / 2 + w / 2,
    (probe TIME, v, w) AS make_timestamp((epoch_us(v) + epoch_us(w)) // 2)::TIME,
    (probe TIME_NS, v, w) AS make_timestamp_ns((epoch_ns(v) + epoch_ns(w)) // 2)::TIME_NS,
    (probe TIMESTAMP, v, w) AS make_timestamp(epoch_us(v) // 2 + epoch_us(w) // 2),
    (probe TIMESTAMP_NS, v, w) AS (make_timestamp_ns(epoch_ns(v) // 2 + epoch_ns(w) // 2))::VARCHAR,
    (probe TIMESTAMPTZ, v, w)
        AS to_timestamp(0) + to_microseconds(epoch_us(v) // 2 + epoch_us(w) // 2);
CREATE OR REPLACE MACRO __anon_query_between(v, w) AS
    cast_to_type(__anon_query_gap(list_extract(list_value(v), 1), v, w), v);

CREATE OR REPLACE MACRO __anon_query_inside_by
    (probe, v, known) AS true,
    (probe VARCHAR, v, known) AS true,
    (probe BOOLEAN, v, known) AS true,
    (probe UUID, v, known) AS true,
    (probe DOUBLE, v, known) AS v BETWEEN known[1] AND known[2],
    (probe TIME, v, known) AS v BETWEEN known[1] AND known[2],
    (probe TIME_NS, v, known) AS v BETWEEN known[1] AND known[2],
    (probe TIMESTAMP, v, known) AS v BETWEEN known[1] AND known[2],
    (probe TIMESTAMPTZ, v, known) AS v BETWEEN known[1] AND known[2];

-- A row a point (even), gap (odd) or NULL (0). Takes the names of two CTEs: the labels
-- (__anon_shown) and the raw column (__anon_value).
CREATE OR REPLACE MACRO __anon_query_axis(
    __anon_labels, __anon_values, __anon_constants
) AS TABLE
WITH
__anon_held AS MATERIALIZED (
    SELECT
        __anon_query_known(__anon_value) AS __anon_known,
        list_extract(list(__anon_value), 0) AS __anon_null
    FROM query_table(__anon_values)
),
__anon_given AS (
    SELECT unnest(__anon_known) AS __anon_value FROM __anon_held
    UNION ALL
    SELECT unnest(__anon_query_adds(
        __anon_null, __anon_null, __anon_shown, NULL::VARCHAR, __anon_known).ends)
    FROM query_table(__anon_labels), __anon_held
    UNION ALL
    SELECT __anon_query_adds(
        __anon_null, __anon_null, NULL::VARCHAR, __anon_constant, __anon_known).constant
    FROM (SELECT unnest(__anon_constants::VARCHAR[]) AS __anon_constant), __anon_held
),
__anon_points AS (
    SELECT DISTINCT __anon_value FROM __anon_given, __anon_held
    WHERE __anon_value IS NOT NULL
        AND __anon_query_inside_by(__anon_value, __anon_value, __anon_known)
),
__anon_ordered AS MATERIALIZED (
    SELECT
        2 * row_number() OVER (ORDER BY __anon_value) AS __anon_at,
        __anon_value,
        lead(__anon_value) OVER (ORDER BY __anon_value) AS __anon_next
    FROM __anon_points
),
__anon_gaps AS (
    SELECT
        __anon_at + 1 AS __anon_at, __anon_value AS __anon_low, __anon_next,
        __anon_query_between(__anon_value, __anon_next) AS __anon_value
    FROM __anon_ordered
)
SELECT
    __anon_at, __anon_value, __anon_text(__anon_value) AS __anon_printed,
    __anon_point(__anon_text(__anon_value), typeof(__anon_value)) AS __anon_place
FROM __anon_ordered
UNION ALL
SELECT __anon_at, __anon_value, NULL, NULL FROM __anon_gaps
WHERE __anon_value > __anon_low AND __anon_value < __anon_next
UNION ALL
SELECT 0, __anon_null, NULL, NULL FROM __anon_held;
