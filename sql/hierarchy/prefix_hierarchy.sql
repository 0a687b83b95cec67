-- A generalization hierarchy of codes such as postal codes: what they begin with.
--
-- tbl: name of the relation. column_name: the column the hierarchy is for.
-- lengths: how many characters are kept at each level, descending. A code that is shorter stays
--   as it is.
-- Returns: a row per distinct value and level: attribute, value, level, label, such as '123*';
--   the last level is '*'.
-- Errors: no such column, lengths that do not descend to at least 1.
-- Example: SELECT * FROM prefix_hierarchy('people', 'city', [1]);
CREATE OR REPLACE MACRO prefix_hierarchy(tbl, column_name, lengths := [4, 3, 2, 1]) AS TABLE
WITH
__anon_checked AS (SELECT __anon_lengths('prefix_hierarchy', lengths) AS __anon_fit),
__anon_labelled AS (
    SELECT __anon_attribute, __anon_printed,
        list_transform(lengths, lambda __anon_n: if(
            length(__anon_printed) < __anon_n, NULL, left(__anon_printed, __anon_n) || '*'))
            AS __anon_labels
    FROM __anon_hierarchy_values('prefix_hierarchy', tbl, column_name), __anon_checked
    WHERE __anon_fit
)
FROM __anon_hierarchy_rows('__anon_labelled');
