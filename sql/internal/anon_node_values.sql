-- Return the values below the node of a label in a hierarchy; NULL for * and NULL.
CREATE OR REPLACE MACRO __anon_values_of_node(__anon_label, __anon_nodes) AS CASE
    WHEN __anon_label IS NULL OR __anon_label = '*' THEN NULL
    WHEN system.main.map_contains(__anon_nodes, __anon_label)
        THEN system.main.map_extract_value(__anon_nodes, __anon_label)
    ELSE system.main.error('anon_values: a label must be a node of the hierarchy or *')
END;
CREATE OR REPLACE MACRO __anon_nodes_of(__anon_hierarchy, __anon_attribute) AS (
    SELECT __anon_columns_node_values(__anon_attribute, __anon_path_rows)
    FROM __anon_path_rows(__anon_hierarchy)
);
