-- Return a value as DuckDB prints it; a timestamp with time zone in UTC, not in the session's zone.
CREATE OR REPLACE MACRO __anon_text
    (x) AS x::VARCHAR,
    (x DATE) AS x::VARCHAR,
    (x TIMESTAMP) AS x::VARCHAR,
    (x TIMESTAMP_S) AS x::VARCHAR,
    (x TIMESTAMP_MS) AS x::VARCHAR,
    (x TIMESTAMP_NS) AS x::VARCHAR,
    (x TIMESTAMPTZ) AS make_timestamp(epoch_us(x))::VARCHAR || '+00';
