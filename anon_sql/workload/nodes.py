"""The part of the statement that reads labels of columns that a hierarchy may name.

Whether it names a column is known only when the statement runs, so labels are parted there: those
of a column that has no rows are read as ever, those of one that has are nodes.
"""

from anon_sql.relation import quote


def text_literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def forest(raw: str, call: str, hierarchy: str) -> str:
    """The CTE of all hierarchies; call: the roles of the call as SQL."""
    trees = f"__anon_trees({text_literal(raw)}, {call}, {text_literal(hierarchy)})"
    return f"\n__anon_forest AS MATERIALIZED (FROM {trees})"


def parted(at: int, name: str) -> str:
    """CTEs: a column's paths, its labels that are no nodes and those that are, a NULL of its
    type, and the leaves."""
    column = quote(name)
    return f"""
__anon_tree_{at} AS MATERIALIZED (
    SELECT list_sort(struct_extract(__anon_trees, {text_literal(name)})) AS __anon_paths
    FROM __anon_forest
),
__anon_plain_{at} AS (
    SELECT __anon_labels_{at}.* FROM __anon_labels_{at}, __anon_tree_{at}
    WHERE __anon_paths IS NULL
),
__anon_nodes_{at} AS (
    SELECT __anon_labels_{at}.* FROM __anon_labels_{at}, __anon_tree_{at}
    WHERE __anon_paths IS NOT NULL
),
__anon_null_{at} AS (SELECT any_value({column}) AS __anon_null FROM (FROM __anon_raw LIMIT 0)),
__anon_leaves_{at} AS MATERIALIZED (
    SELECT DISTINCT try(cast_to_type(__anon_path.leaf, __anon_null)) AS __anon_value
    FROM (SELECT unnest(__anon_paths) AS __anon_path FROM __anon_tree_{at}), __anon_null_{at}
)"""


def points(at: int, name: str, constants: str) -> str:
    """The axis: of a column that has a hierarchy its leaves and NULL."""
    column = quote(name)
    return f"""
__anon_points_{at} AS MATERIALIZED (
    SELECT __anon_at, __anon_printed, __anon_place, __anon_value AS {column}
    FROM __anon_query_axis('__anon_plain_{at}', '__anon_values_{at}', {constants}), __anon_tree_{at}
    WHERE __anon_paths IS NULL OR __anon_at = 0
    UNION ALL
    SELECT
        2 * row_number() OVER (ORDER BY __anon_value), __anon_text(__anon_value), NULL, __anon_value
    FROM __anon_leaves_{at} WHERE __anon_value IS NOT NULL
)"""


def read(at: int, name: str) -> str:
    """What the labels say; of nodes what they are called."""
    column = quote(name)
    return f"""
__anon_read_{at} AS MATERIALIZED (
    SELECT list(__anon_code) AS code, list(__anon_said) AS said
    FROM (
        SELECT __anon_code, __anon_query_label({column}, {column}, __anon_shown) AS __anon_said
        FROM __anon_plain_{at}, (SELECT {column} FROM __anon_points_{at} WHERE __anon_at = 0)
        UNION ALL
        SELECT __anon_code, __anon_query_node(__anon_shown) FROM __anon_nodes_{at}
    )
)"""


def below(at: int, name: str) -> str:
    """The struct of what only a hierarchy tells: leaves of each label, values without a leaf."""
    return f"""'leaves': (SELECT __anon_query_leaves('query_error', {text_literal(name)},
            typeof(__anon_null), said, __anon_paths)
            FROM __anon_read_{at}, __anon_tree_{at}, __anon_null_{at}),
        'lacks': (SELECT count(*) FROM (
            SELECT __anon_value FROM __anon_values_{at}, __anon_tree_{at}
            WHERE __anon_value IS NOT NULL AND __anon_paths IS NOT NULL
            EXCEPT SELECT __anon_value FROM __anon_leaves_{at}))"""


def least(at: int, name: str) -> str:
    """CTEs for ``mode := 'literal'``: each label and its least value."""
    column = quote(name)
    return f"""
__anon_labels_{at} AS MATERIALIZED (SELECT DISTINCT {column} AS __anon_shown FROM __anon_shown),{
        parted(at, name)
    },
__anon_named_{at} AS (
    SELECT list(__anon_shown) AS shown, list(__anon_query_node(__anon_shown)) AS said
    FROM __anon_nodes_{at}
),
__anon_found_{at} AS (
    SELECT unnest(shown) AS __anon_shown, unnest(__anon_query_leaves('query_error',
        {text_literal(name)}, typeof(__anon_null), said, __anon_paths)) AS __anon_below, __anon_null
    FROM __anon_named_{at}, __anon_tree_{at}, __anon_null_{at}
),
__anon_worth_{at} AS MATERIALIZED (
    SELECT
        __anon_shown, __anon_query_literal(__anon_null, __anon_null, __anon_shown) AS __anon_worth
    FROM __anon_plain_{at}, __anon_null_{at}
    UNION ALL
    SELECT __anon_shown, __anon_query_leaf(__anon_null, __anon_null, __anon_shown, __anon_below)
    FROM __anon_found_{at}
)"""
