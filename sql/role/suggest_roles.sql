-- A suggested role for every column, with the reason. No suggestion is applied automatically, and
-- declared roles do not change the suggestions. The first rule that applies decides. 'identifier':
-- values that look like an e-mail address, an official, account or device number (by check digits
-- where there are any), an IP or web address, a picture or a phone number, in a sample of 2000
-- values; types that cannot be generalized; free text. 'identifier' if the name says so, by words in
-- several languages. 'identifier', whatever the name says, if nine in ten values are different and
-- are texts or whole numbers, but not dates or measurements. Then what the name says. 'quasi' if the
-- column alone singles out a row, or holds dates. The other columns are 'keep', the one that tells
-- rows apart least first, as long as together they single out no row, as audit requires; the others
-- are 'quasi'. In a table of 100 rows or more, kept values that fewer than 5 rows share make up less than
-- a tenth of the rows. A column of no known name that numbers people who have several rows is
-- 'identifier'. One that would be kept is 'quasi' if it repeats a quasi-identifier, exactly or nearly, and
-- 'sensitive' if a sensitive column can be computed from it. The reason also says if
-- texts are numbers, dates or times in another notation, and the type to read them as. It counts the
-- values with blanks around them, no-break spaces and tabs among them: trim() removes them.
--
-- tbl: name of the relation.
-- Returns: a row per column: column_name, column_type (without the values of an ENUM), role
--   ('identifier', 'quasi', 'sensitive' or 'keep'), reason, distinct_values (without NULL),
--   null_share (0…1), unique_share (of the rows that are unique on this column; NULL is a value),
--   adds_share (of the rows that are unique on this column and all others that are not identifiers,
--   but not on the others alone), repeats (another column of which each value has one value of this
--   one, so that a release gains little by both; NULL for most), entity (whether this is the
--   identifier to count people by, because people have several rows; true for at most one column).
--   The shares are NULL for an empty table. No part of the result contains a value. Values are compared by a 64-bit hash.
-- Errors: a column name that begins with __anon_, a table whose hashes do not fit into memory.
-- Example: SELECT column_name, role, reason FROM suggest_roles('people');
CREATE OR REPLACE MACRO suggest_roles(tbl) AS TABLE
SELECT system.main.unnest(__anon_audit_suggested(
    __anon_types, __anon_looks_, system.main.current_connection_id()), max_depth := 2)
FROM __anon_overview('suggest_roles', tbl);
