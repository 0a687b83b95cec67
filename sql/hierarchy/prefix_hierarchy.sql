-- A generalization hierarchy of codes such as postal codes: their prefixes.
--
-- tbl: name of the relation. column_name: the column of the hierarchy.
-- lengths: number of leading characters kept at each level, in descending order. Shorter codes stay
--   unchanged.
-- Returns: a row per distinct value and level: attribute, value, level, label, such as '123*'; the
--   last level is '*'.
-- Errors: no such column, lengths that do not descend to at least 1, a code that is the label of
--   another code.
-- Example: SELECT * FROM prefix_hierarchy('people', 'city', [1]);
CREATE OR REPLACE MACRO prefix_hierarchy(tbl, column_name, lengths := [4, 3, 2, 1]) AS TABLE
SELECT unnest(__anon_hierarchies_prefixes(__anon_types, __anon_held, column_name, lengths), recursive := true)
FROM __anon_types(tbl), __anon_hierarchy_values(tbl, column_name);
