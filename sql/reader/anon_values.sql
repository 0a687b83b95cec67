-- The values a text label stands for.
--
-- label: a released value, a label (VARCHAR) or the list of the typed format.
-- hierarchy: the hierarchy table that the release was made with. attribute: the name of the column
--   in it; pass both or none. With both, the label is read as a node of the hierarchy.
-- Returns: VARCHAR[]; NULL for `*`, for NULL and for a range; the leaves below a node.
-- Errors: a text that is neither a label nor a node of the hierarchy.
-- Example: SELECT anon_values('{Accra, Bonn}') AS cities;
CREATE OR REPLACE MACRO anon_values
    (label) AS label::VARCHAR[],
    (label VARCHAR) AS __anon_columns_values(label),
    (label, hierarchy, attribute) AS label::VARCHAR[],
    (label VARCHAR, hierarchy, attribute) AS
        __anon_values_of_node(label, __anon_nodes_of(hierarchy, attribute));
