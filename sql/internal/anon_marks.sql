-- Look at every column of one relation, whatever its roles.

-- A blank as a class of a regular expression: spaces of every width, tabs, line ends, and signs of no
-- width.
CREATE OR REPLACE MACRO __anon_blank() AS
    '[\x{9}-\x{d} \x{85}\x{a0}\x{1680}\x{2000}-\x{200b}\x{2028}\x{2029}'
    || '\x{202f}\x{205f}\x{2060}\x{3000}\x{feff}]';

-- Return a text without the blanks around it.
CREATE OR REPLACE MACRO __anon_trimmed(x) AS system.main.regexp_replace(
    x, '^' || __anon_blank() || '+|' || __anon_blank() || '+$', '', 'g');

-- Return whether a value is a text with blanks around it, NULL if it is NULL or not a text.
CREATE OR REPLACE MACRO __anon_has_blanks
    (x) AS NULL::BOOLEAN,
    (x VARIANT) AS NULL::BOOLEAN,
    (x VARCHAR) AS system.main.regexp_matches(
        x::VARCHAR, '^' || __anon_blank() || '|' || __anon_blank() || '$');

-- Return a column as hashes of its values, the number of its NULLs and of its texts with blanks
-- around them, how many whole numbers lie between the least and the greatest, and a sample of values as
-- text: those of the rows with the smallest hashes. __anon_row: the hash of each row, NULL for what is
-- no row, whose values are NULL. A FILTER would copy every column for each column. An expression that
-- occurs twice costs the square of the number of columns, so the casts of span differ.
CREATE OR REPLACE MACRO __anon_looked(x, __anon_row) AS system.main.struct_pack(
    marks := system.main.list(__anon_audit_mark(x)),
    nulls := system.main.count(__anon_row) - system.main.count(x),
    blanks := system.main.count(CASE WHEN __anon_has_blanks(x) THEN 1 END),
    span := system.main.max(TRY_CAST(x AS HUGEINT))::DOUBLE
        - system.main.min(TRY_CAST(x AS DOUBLE)) + 1,
    sample := TRY_CAST(system.main.arg_min(
        x, CASE WHEN x IS NOT NULL THEN __anon_row END, 2000) AS VARCHAR[]));
CREATE OR REPLACE MACRO __anon_marked(x) AS system.main.list(__anon_audit_mark(x));
