-- The name of the period of time that a printed date or timestamp lies in.
CREATE OR REPLACE MACRO __anon_day(x) AS coalesce(
    try_cast(regexp_extract(x, '^[0-9]+-[0-9]{2}-[0-9]{2}( \(BC\))?') AS DATE),
    error('date_hierarchy: the column must hold dates or timestamps that are finite, got others'
        || '; cast it first'));
CREATE OR REPLACE MACRO __anon_period_of(__anon_d, __anon_level) AS
    CASE __anon_level
        WHEN 'day' THEN __anon_d::VARCHAR
        WHEN 'month' THEN year(__anon_d) || '-' || lpad(month(__anon_d)::VARCHAR, 2, '0')
        WHEN 'quarter' THEN year(__anon_d) || '-Q' || quarter(__anon_d)
        WHEN 'year' THEN year(__anon_d)::VARCHAR
        WHEN 'decade' THEN (decade(__anon_d) * 10)::VARCHAR || 's'
        WHEN 'century' THEN 'century ' || century(__anon_d)
    END;
CREATE OR REPLACE MACRO __anon_period(x, __anon_level) AS
    __anon_period_of(__anon_day(x), __anon_level);
