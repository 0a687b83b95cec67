-- Distance along hierarchies: mass moves between the children of a node at the height of that node.

CREATE OR REPLACE MACRO __anon_shown_key(x) AS if(
    x IS NULL, NULL, {'value': __anon_key(x), 'shown': __anon_text(x)::VARCHAR});

-- The distinct values of the sensitive columns that a hierarchy names: key and printed text.
CREATE OR REPLACE MACRO __anon_tree_values(
    __anon_raw, __anon_released, __anon_call, __anon_hierarchy
) AS TABLE
WITH
__anon_no_hierarchy AS (SELECT '' AS attribute LIMIT 0),
__anon_named AS (
    SELECT coalesce(list(DISTINCT __anon_fold(attribute)), []) AS __anon_attributes
    FROM query_table(coalesce(__anon_hierarchy, '__anon_no_hierarchy'))
),
__anon_alike AS (FROM __anon_alike_raw(__anon_raw, __anon_released, __anon_call)),
__anon_listed AS (
    SELECT __anon_held_values(COLUMNS(__anon_alike.*), alias(COLUMNS(__anon_alike.*)), __anon_attributes)
    FROM __anon_alike, __anon_named
    WHERE __anon_hierarchy IS NOT NULL
),
__anon_single AS (SELECT unnest(COLUMNS(*)) FROM __anon_listed),
__anon_shown AS (SELECT __anon_shown_key(COLUMNS(*)) FROM __anon_single),
__anon_pairs AS (
    SELECT __anon_named(alias(COLUMNS(__anon_shown.*)), COLUMNS(__anon_shown.*)) FROM __anon_shown
),
__anon_cells AS (SELECT unnest(list_value(*COLUMNS(*))) AS __anon_cell FROM __anon_pairs)
SELECT
    __anon_cell.name AS __anon_name, __anon_cell.value.value AS __anon_value,
    __anon_cell.value.shown AS __anon_shown
FROM __anon_cells
WHERE __anon_cell.value IS NOT NULL;

-- One row: which columns have a hierarchy, and for each of their values the nodes from it to below
-- the root, each with its parent, the parent's height and the tree's.
CREATE OR REPLACE MACRO __anon_climbed_values(
    __anon_function, __anon_raw, __anon_released, __anon_call, __anon_hierarchy
) AS TABLE
WITH
__anon_held AS (
    SELECT list({'name': __anon_name, 'value': __anon_value, 'shown': __anon_shown})
        AS __anon_values
    FROM __anon_tree_values(__anon_raw, __anon_released, __anon_call, __anon_hierarchy)
)
SELECT
    __anon_tree_steps(__anon_function, __anon_trees, __anon_values) AS __anon_steps,
    list_distinct(list_transform(__anon_steps, lambda __anon_x: __anon_x.name))
        AS __anon_grown_names
FROM __anon_held, __anon_trees(__anon_raw, __anon_call, __anon_hierarchy, 'all');

-- A child that the class does not reach has too little, never too much; so what the children
-- that it reaches have too much, less what the node has too much, is what the others lack.
CREATE OR REPLACE MACRO __anon_tree_distances(
    __anon_met, __anon_values, __anon_climbs
) AS TABLE
WITH
__anon_steps_of AS (
    SELECT
        __anon_s.name AS __anon_name, __anon_s.value AS __anon_value, __anon_s.node AS __anon_node,
        __anon_s.parent AS __anon_parent, __anon_s.height AS __anon_height,
        __anon_s.tallest AS __anon_tallest
    FROM (SELECT unnest(__anon_steps) AS __anon_s FROM query_table(__anon_climbs))
),
__anon_nodes AS (
    SELECT
        __anon_name, __anon_node, __anon_parent,
        any_value(__anon_height) AS __anon_height, any_value(__anon_tallest) AS __anon_tallest,
        sum(__anon_often) AS __anon_held,
        sum(sum(__anon_often)) OVER (PARTITION BY __anon_name, __anon_parent) AS __anon_of_parent
    FROM __anon_steps_of JOIN query_table(__anon_values) USING (__anon_name, __anon_value)
    GROUP BY __anon_name, __anon_node, __anon_parent
),
__anon_reached AS (
    SELECT
        __anon_class, __anon_name, __anon_node, sum(__anon_count) AS __anon_count,
        any_value(__anon_m) AS __anon_m, any_value(__anon_n) AS __anon_n
    FROM
        query_table(__anon_met)
        JOIN (SELECT __anon_name, __anon_value, __anon_node FROM __anon_steps_of)
            USING (__anon_name, __anon_value)
    WHERE __anon_distance = 'tree'
    GROUP BY __anon_class, __anon_name, __anon_node
),
__anon_moved AS (
    SELECT
        __anon_class, __anon_name,
        any_value(__anon_m * __anon_n * __anon_tallest) AS __anon_whole,
        any_value(__anon_height) AS __anon_height,
        sum(greatest(__anon_count * __anon_n - __anon_held * __anon_m, 0)) AS __anon_over,
        sum(__anon_count * __anon_n) - any_value(__anon_of_parent * __anon_m) AS __anon_extra
    FROM __anon_reached JOIN __anon_nodes USING (__anon_name, __anon_node)
    GROUP BY __anon_class, __anon_name, __anon_parent
)
SELECT
    __anon_class, __anon_name,
    sum(__anon_height * least(__anon_over, __anon_over - __anon_extra))::DOUBLE
    / any_value(__anon_whole) AS __anon_t
FROM __anon_moved
GROUP BY __anon_class, __anon_name;
