-- The values that a label stands for in a hierarchy; NULL for * and NULL.
CREATE OR REPLACE MACRO __anon_values_of_node(__anon_label, __anon_nodes) AS CASE
    WHEN __anon_label IS NULL OR __anon_label = '*' THEN NULL
    WHEN map_contains(__anon_nodes, __anon_label) THEN __anon_nodes[__anon_label]
    ELSE error('anon_values: a label must be a node of the hierarchy or *, got another')
END;
CREATE OR REPLACE MACRO __anon_nodes_of(__anon_hierarchy, __anon_attribute) AS (
    SELECT __anon_node_values(
        __anon_attribute,
        list({'value': value::VARCHAR, 'level': level::INTEGER, 'label': label::VARCHAR})
            FILTER (value IS NOT NULL AND label IS NOT NULL
                AND __anon_fold(attribute) = __anon_fold(__anon_attribute)))
    FROM query_table(__anon_hierarchy)
);
