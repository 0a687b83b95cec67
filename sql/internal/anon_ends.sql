-- Return the lower or the upper end of a printed number, date or range, as text.
--
-- Plain numbers and dates are parsed in SQL, which is up to ten times as fast; any other text is
-- parsed in Python.
CREATE OR REPLACE MACRO __anon_is_plain(__anon_x) AS
    system.main.regexp_full_match(__anon_x, '-?[0-9]+(?:\.[0-9]+)?|[0-9]{4}-[0-9]{2}-[0-9]{2}');
CREATE OR REPLACE MACRO __anon_is_plain_range(__anon_x) AS
    system.main.regexp_full_match(__anon_x, '\[-?[0-9]+(?:\.[0-9]+)?, -?[0-9]+(?:\.[0-9]+)?\]'
        '|\[[0-9]{4}-[0-9]{2}-[0-9]{2}, [0-9]{4}-[0-9]{2}-[0-9]{2}\]');

CREATE OR REPLACE MACRO __anon_lower(__anon_x) AS CASE
    WHEN __anon_is_plain_range(__anon_x)
        THEN system.main.split_part(system.main.substr(__anon_x, 2), ', ', 1)
    WHEN __anon_is_plain(__anon_x) THEN __anon_x
    WHEN __anon_x <> '*' THEN __anon_columns_low(__anon_x)
END;
CREATE OR REPLACE MACRO __anon_upper(__anon_x) AS CASE
    WHEN __anon_is_plain_range(__anon_x)
        THEN system.main.split_part(system.main."left"(__anon_x, -1), ', ', 2)
    WHEN __anon_is_plain(__anon_x) THEN __anon_x
    WHEN __anon_x <> '*' THEN __anon_columns_high(__anon_x)
END;
