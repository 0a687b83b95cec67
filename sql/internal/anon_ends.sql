-- The ends of a printed number or date, as text.
--
-- Plain numbers and dates are taken out here, which is ten times as fast; every other label, and
-- what is none, goes to the reader that knows them all.
CREATE OR REPLACE MACRO __anon_is_plain(__anon_x) AS
    regexp_full_match(__anon_x, '-?[0-9]+(?:\.[0-9]+)?|[0-9]{4}-[0-9]{2}-[0-9]{2}');
CREATE OR REPLACE MACRO __anon_is_plain_range(__anon_x) AS
    regexp_full_match(__anon_x, '\[-?[0-9]+(?:\.[0-9]+)?, -?[0-9]+(?:\.[0-9]+)?\]'
        '|\[[0-9]{4}-[0-9]{2}-[0-9]{2}, [0-9]{4}-[0-9]{2}-[0-9]{2}\]');

CREATE OR REPLACE MACRO __anon_lower(__anon_x) AS CASE
    WHEN __anon_is_plain_range(__anon_x) THEN split_part(__anon_x[2:], ', ', 1)
    WHEN __anon_is_plain(__anon_x) THEN __anon_x
    WHEN __anon_x <> '*' THEN __anon_low(__anon_x)
END;
CREATE OR REPLACE MACRO __anon_upper(__anon_x) AS CASE
    WHEN __anon_is_plain_range(__anon_x) THEN __anon_x[strpos(__anon_x, ', ') + 2:-2]
    WHEN __anon_is_plain(__anon_x) THEN __anon_x
    WHEN __anon_x <> '*' THEN __anon_high(__anon_x)
END;
