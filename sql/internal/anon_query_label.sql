-- What a released value of a quasi-identifier says, for a query; v is a NULL of the raw type.

CREATE OR REPLACE MACRO __anon_query_star
    (shown) AS shown IS NULL,
    (shown VARCHAR) AS coalesce(shown = '*', false);
CREATE OR REPLACE MACRO __anon_query_no_number
    (shown) AS shown IS NOT NULL AND shown.min IS NULL AND shown.max IS NULL,
    (shown VARCHAR) AS shown IS NULL;
CREATE OR REPLACE MACRO __anon_query_no_word
    (shown) AS coalesce(len(shown) = 0, false),
    (shown VARCHAR) AS shown IS NULL;

-- low, high: ends as the raw column's type prints them; members: the values of a text label.
CREATE OR REPLACE MACRO __anon_query_range(v, shown) AS {
    'star': __anon_query_star(shown), 'empty': __anon_query_no_number(shown),
    'low': __anon_text(cast_to_type(anon_min(shown), v)),
    'high': __anon_text(cast_to_type(anon_max(shown), v)), 'members': NULL::VARCHAR[]};
CREATE OR REPLACE MACRO __anon_query_set(v, shown) AS {
    'star': __anon_query_star(shown), 'empty': __anon_query_no_word(shown),
    'low': NULL::VARCHAR, 'high': NULL::VARCHAR, 'members': anon_values(shown)};
CREATE OR REPLACE MACRO __anon_query_label
    (probe, v, shown) AS __anon_query_set(v, shown),
    (probe VARCHAR, v, shown) AS __anon_query_set(v, shown),
    (probe BOOLEAN, v, shown) AS __anon_query_set(v, shown),
    (probe UUID, v, shown) AS __anon_query_set(v, shown),
    (probe DOUBLE, v, shown) AS __anon_query_range(v, shown),
    (probe TIME, v, shown) AS __anon_query_range(v, shown),
    (probe TIME_NS, v, shown) AS __anon_query_range(v, shown),
    (probe TIMESTAMP, v, shown) AS __anon_query_range(v, shown),
    (probe TIMESTAMPTZ, v, shown) AS __anon_query_range(v, shown);

-- mode := 'literal': a number's minimum, a text's only value, else the label as it stands (NULL
-- where the column's type has no place for it).
CREATE OR REPLACE MACRO __anon_query_least(v, shown) AS
    cast_to_type(anon_min(shown), v);
CREATE OR REPLACE MACRO __anon_query_one(v, shown) AS
    if(len(anon_values(shown)) = 1, anon_values(shown)[1], shown::VARCHAR);
CREATE OR REPLACE MACRO __anon_query_only(v, shown) AS
    CASE WHEN len(anon_values(shown)) = 1 THEN cast_to_type(anon_values(shown)[1], v) END;
CREATE OR REPLACE MACRO __anon_query_literal
    (probe, v, shown) AS __anon_query_one(v, shown),
    (probe VARCHAR, v, shown) AS __anon_query_one(v, shown),
    (probe BOOLEAN, v, shown) AS __anon_query_only(v, shown),
    (probe UUID, v, shown) AS __anon_query_only(v, shown),
    (probe DOUBLE, v, shown) AS __anon_query_least(v, shown),
    (probe TIME, v, shown) AS __anon_query_least(v, shown),
    (probe TIME_NS, v, shown) AS __anon_query_least(v, shown),
    (probe TIMESTAMP, v, shown) AS __anon_query_least(v, shown),
    (probe TIMESTAMPTZ, v, shown) AS __anon_query_least(v, shown);

-- A label of a column that has a hierarchy: low is a printed node, or low and high are the ends of
-- a typed number, or members are those of a typed text.
CREATE OR REPLACE MACRO __anon_query_node
    (shown) AS {
        'star': shown IS NULL, 'empty': __anon_query_no_number(shown),
        'low': __anon_text(shown.min), 'high': __anon_text(shown.max), 'members': NULL::VARCHAR[]},
    (shown VARCHAR[]) AS {
        'star': shown IS NULL, 'empty': __anon_query_no_word(shown),
        'low': NULL::VARCHAR, 'high': NULL::VARCHAR, 'members': shown::VARCHAR[]},
    (shown VARCHAR) AS {
        'star': __anon_query_star(shown), 'empty': __anon_query_no_word(shown),
        'low': shown::VARCHAR, 'high': NULL::VARCHAR, 'members': NULL::VARCHAR[]};

-- The same as __anon_query_literal for such a label and the leaves below it, in their order.
CREATE OR REPLACE MACRO __anon_query_leaf_only(v, leaves) AS
    CASE WHEN len(leaves) = 1 THEN cast_to_type(leaves[1], v) END;
CREATE OR REPLACE MACRO __anon_query_leaf_one(shown, leaves) AS
    if(len(leaves) = 1, leaves[1], shown::VARCHAR);
CREATE OR REPLACE MACRO __anon_query_leaf
    (probe, v, shown, leaves) AS __anon_query_leaf_one(shown, leaves),
    (probe VARCHAR, v, shown, leaves) AS __anon_query_leaf_one(shown, leaves),
    (probe BOOLEAN, v, shown, leaves) AS __anon_query_leaf_only(v, leaves),
    (probe UUID, v, shown, leaves) AS __anon_query_leaf_only(v, leaves),
    (probe DOUBLE, v, shown, leaves) AS cast_to_type(leaves[1], v),
    (probe TIME, v, shown, leaves) AS cast_to_type(leaves[1], v),
    (probe TIME_NS, v, shown, leaves) AS cast_to_type(leaves[1], v),
    (probe TIMESTAMP, v, shown, leaves) AS cast_to_type(leaves[1], v),
    (probe TIMESTAMPTZ, v, shown, leaves) AS cast_to_type(leaves[1], v);
