-- What one value of a column shows of its quality; each macro chooses by the probe's type.

-- A number, date or time as a DOUBLE that can be compared, NULL for all else.
CREATE OR REPLACE MACRO __anon_quality_instant(x) AS CASE WHEN isfinite(x) THEN epoch_us(x)::DOUBLE END;
CREATE OR REPLACE MACRO __anon_quality_number
    (probe, x) AS NULL::DOUBLE,
    (probe VARCHAR, x) AS NULL::DOUBLE,
    (probe BOOLEAN, x) AS NULL::DOUBLE,
    (probe UUID, x) AS NULL::DOUBLE,
    (probe DOUBLE, x) AS CASE WHEN isfinite(x::DOUBLE) THEN x::DOUBLE END,
    (probe TIME, x) AS epoch_us(x)::DOUBLE,
    (probe TIME_NS, x) AS epoch_ns(x)::DOUBLE,
    (probe TIMESTAMP, x) AS __anon_quality_instant(x::TIMESTAMP),
    (probe TIMESTAMPTZ, x) AS __anon_quality_instant(x);
CREATE OR REPLACE MACRO __anon_quality_infinite
    (probe, x) AS false,
    (probe VARCHAR, x) AS false,
    (probe BOOLEAN, x) AS false,
    (probe UUID, x) AS false,
    (probe DOUBLE, x) AS NOT isfinite(x::DOUBLE),
    (probe TIME, x) AS false,
    (probe TIME_NS, x) AS false,
    (probe TIMESTAMP, x) AS NOT isfinite(x::TIMESTAMP),
    (probe TIMESTAMPTZ, x) AS NOT isfinite(x);
CREATE OR REPLACE MACRO __anon_quality_text
    (probe, x) AS NULL::VARCHAR,
    (probe VARCHAR, x) AS x::VARCHAR,
    (probe BOOLEAN, x) AS NULL::VARCHAR,
    (probe UUID, x) AS NULL::VARCHAR,
    (probe DOUBLE, x) AS NULL::VARCHAR,
    (probe TIME, x) AS NULL::VARCHAR,
    (probe TIME_NS, x) AS NULL::VARCHAR,
    (probe TIMESTAMP, x) AS NULL::VARCHAR,
    (probe TIMESTAMPTZ, x) AS NULL::VARCHAR;
CREATE OR REPLACE MACRO __anon_quality_of(probe, __anon_name, x) AS {
    'name': concat(__anon_name, ''),
    'missing': x IS NULL,
    'infinite': coalesce(__anon_quality_infinite(probe, x), false),
    'number': __anon_quality_number(probe, x),
    'text': __anon_quality_text(probe, x)};
CREATE OR REPLACE MACRO __anon_quality(__anon_name, x) AS
    __anon_quality_of(list_extract(list_value(x), 1), __anon_name, x);

-- The same text whatever its letters' case and its blanks.
CREATE OR REPLACE MACRO __anon_quality_folded(__anon_x) AS
    lower(regexp_replace(trim(__anon_x), '\s+', ' ', 'g'));
