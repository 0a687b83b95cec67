-- The name of the range of a width that a number lies in; ranges begin at multiples of the width.
CREATE OR REPLACE MACRO __anon_range_start(__anon_x, __anon_w) AS
    __anon_x - ((__anon_x % __anon_w) + __anon_w) % __anon_w;
CREATE OR REPLACE MACRO __anon_whole_name(__anon_low, __anon_w) AS
    __anon_low::VARCHAR || ' to ' || (__anon_low + __anon_w - 1)::VARCHAR;
CREATE OR REPLACE MACRO __anon_part_name(__anon_low, __anon_w) AS
    __anon_low::VARCHAR || ' to below ' || (__anon_low + __anon_w)::VARCHAR;
-- Chosen by the value's type; the width of a whole number is one too.
CREATE OR REPLACE MACRO __anon_range_name
    (__anon_x, __anon_w) AS __anon_part_name(
        __anon_range_start(__anon_x, __anon_w), __anon_w),
    (__anon_x HUGEINT, __anon_w) AS __anon_whole_name(
        __anon_range_start(__anon_x, __anon_w), __anon_w);
