-- How a label is printed in one column. x holds the column as a list (v) and what the partition
-- says of label i: the places of its smallest and largest value (low, high: 0 where NULL stands
-- beside values, -1 where it stands alone), or its text or set.
--
-- Macros that take a `probe` choose by its type and leave the value the type it has.

-- A value as DuckDB prints it; an instant in UTC, whatever the session's time zone.
CREATE OR REPLACE MACRO __anon_text
    (x) AS x::VARCHAR,
    (x DATE) AS x::VARCHAR,
    (x TIMESTAMP) AS x::VARCHAR,
    (x TIMESTAMP_S) AS x::VARCHAR,
    (x TIMESTAMP_MS) AS x::VARCHAR,
    (x TIMESTAMP_NS) AS x::VARCHAR,
    (x TIMESTAMPTZ) AS make_timestamp(epoch_us(x))::VARCHAR || '+00';

-- VARCHAR: one value, [low, high], {…}, * or NULL.
CREATE OR REPLACE MACRO __anon_label(x, i) AS
    CASE
        WHEN x.texts IS NOT NULL THEN list_extract(x.texts, i)
        WHEN list_extract(x.low, i) = 0 THEN '*'
        WHEN list_extract(x.low, i) < 0 THEN NULL
        WHEN list_extract(x.low, i) = list_extract(x.high, i)
            THEN __anon_text(list_extract(x.v, list_extract(x.low, i)))
        ELSE '[' || __anon_text(list_extract(x.v, list_extract(x.low, i)))
            || ', ' || __anon_text(list_extract(x.v, list_extract(x.high, i))) || ']'
    END;

-- Ends that come as text are those of a node of a hierarchy, and need not stand in the column.
CREATE OR REPLACE MACRO __anon_ends_of(ends, probe) AS if(ends IS NULL, NULL, {
    'min': cast_to_type(list_extract(ends, 1), __anon_type(probe)),
    'max': cast_to_type(list_extract(ends, 2), __anon_type(probe))});
CREATE OR REPLACE MACRO __anon_ends(x, i) AS
    CASE
        WHEN x.sets IS NOT NULL THEN __anon_ends_of(
            list_extract(x.sets, i), list_extract(x.v, 0))
        WHEN list_extract(x.low, i) = 0 THEN NULL
        WHEN list_extract(x.low, i) < 0 THEN {'min': list_extract(x.v, 0), 'max': list_extract(x.v, 0)}
        ELSE {
            'min': list_extract(x.v, list_extract(x.low, i)),
            'max': list_extract(x.v, list_extract(x.high, i))}
    END;

-- STRUCT(min T, max T) for numbers, VARCHAR[] for text.
CREATE OR REPLACE MACRO __anon_typed
    (probe VARCHAR, x, i) AS list_extract(x.sets, i),
    (probe BOOLEAN, x, i) AS list_extract(x.sets, i),
    (probe UUID, x, i) AS list_extract(x.sets, i),
    (probe DOUBLE, x, i) AS __anon_ends(x, i),
    (probe TIME, x, i) AS __anon_ends(x, i),
    (probe TIME_NS, x, i) AS __anon_ends(x, i),
    (probe TIMESTAMP, x, i) AS __anon_ends(x, i),
    (probe TIMESTAMPTZ, x, i) AS __anon_ends(x, i),
    (probe, x, i) AS list_extract(x.sets, i);

-- What is printed in one column of one class, with a NULL of the column's type beside it. `none`
-- keeps hashes apart: DuckDB gives NULL, [] and a struct of NULLs the same one.
CREATE OR REPLACE MACRO __anon_print(shown, probe) AS {
    'shown': shown, 'probe': probe, 'none': shown IS NULL};
CREATE OR REPLACE MACRO __anon_as_label(x, i) AS __anon_print(
    __anon_label(x, i), list_extract(x.v, 0));
CREATE OR REPLACE MACRO __anon_as_typed(x, i) AS __anon_print(
    __anon_typed(list_extract(x.v, 0), x, i), list_extract(x.v, 0));
CREATE OR REPLACE MACRO __anon_shown(cell) AS cell.shown;

-- What the public readers make of a printed label: the ends in the column's type, and
-- whether it is suppressed. Text was read back when its label was made.
CREATE OR REPLACE MACRO __anon_read_text
    (shown) AS {'low': 0, 'high': 0, 'star': shown IS NULL},
    (shown VARCHAR) AS {'low': 0, 'high': 0, 'star': coalesce(shown = '*', false)};

-- A NULL of the probe's type; VARCHAR for a column that has none, so that the plan can refuse it.
CREATE OR REPLACE MACRO __anon_type(probe) AS if(probe IS NULL, probe, '0');

CREATE OR REPLACE MACRO __anon_read_ends
    (shown, probe) AS {'low': anon_min(shown), 'high': anon_max(shown), 'star': shown IS NULL},
    (shown VARCHAR, probe) AS {
        'low': try(cast_to_type(anon_min(shown), __anon_type(probe))),
        'high': try(cast_to_type(anon_max(shown), __anon_type(probe))),
        'star': coalesce(shown = '*', false)};

CREATE OR REPLACE MACRO __anon_read_by
    (probe, cell) AS __anon_read_text(cell.shown),
    (probe VARCHAR, cell) AS __anon_read_text(cell.shown),
    (probe BOOLEAN, cell) AS __anon_read_text(cell.shown),
    (probe UUID, cell) AS __anon_read_text(cell.shown),
    (probe DOUBLE, cell) AS __anon_read_ends(cell.shown, cell.probe),
    (probe TIME, cell) AS __anon_read_ends(cell.shown, cell.probe),
    (probe TIME_NS, cell) AS __anon_read_ends(cell.shown, cell.probe),
    (probe TIMESTAMP, cell) AS __anon_read_ends(cell.shown, cell.probe),
    (probe TIMESTAMPTZ, cell) AS __anon_read_ends(cell.shown, cell.probe);
CREATE OR REPLACE MACRO __anon_read(cell) AS __anon_read_by(cell.probe, cell);

-- A list of numbers as it is; of a list of text the type alone.
CREATE OR REPLACE MACRO __anon_slim_by
    (probe, v) AS if(false, v, NULL),
    (probe VARCHAR, v) AS if(false, v, NULL),
    (probe BOOLEAN, v) AS if(false, v, NULL),
    (probe UUID, v) AS if(false, v, NULL),
    (probe DOUBLE, v) AS v,
    (probe TIME, v) AS v,
    (probe TIME_NS, v) AS v,
    (probe TIMESTAMP, v) AS v,
    (probe TIMESTAMPTZ, v) AS v;
CREATE OR REPLACE MACRO __anon_slim(v) AS __anon_slim_by(list_extract(v, 0), v);
