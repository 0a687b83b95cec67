-- What a released value says of its class in one column, and what that loses of the raw table.
--
-- In steps, each on the struct that the last one made: value and domain, what the value says,
-- where it lies, what it loses.

-- z: the value, and what it loses in its hierarchy (NULL: the column has none, -1: no node of it).
CREATE OR REPLACE MACRO __anon_pair(z, d) AS {'x': z[1], 'share': z[2], 'd': d};

-- All values of a column, as its hierarchy is looked up: printed labels, sets or ends.
CREATE OR REPLACE MACRO __anon_told_labels(v) AS {
    'labels': v::VARCHAR[], 'sets': NULL::VARCHAR[][], 'low': NULL::VARCHAR[], 'high': NULL::VARCHAR[]};
CREATE OR REPLACE MACRO __anon_told_sets(v) AS {
    'labels': NULL::VARCHAR[], 'sets': v::VARCHAR[][], 'low': NULL::VARCHAR[], 'high': NULL::VARCHAR[]};
CREATE OR REPLACE MACRO __anon_told_ends(v) AS {
    'labels': NULL::VARCHAR[], 'sets': NULL::VARCHAR[][],
    'low': list_transform(v, lambda __anon_x: __anon_x.min),
    'high': list_transform(v, lambda __anon_x: __anon_x.max)};
CREATE OR REPLACE MACRO __anon_told_by
    (probe, v) AS __anon_told_ends(try_cast(v AS STRUCT(min VARCHAR, max VARCHAR)[])),
    (probe VARCHAR[], v) AS __anon_told_sets(v),
    (probe VARCHAR, v) AS __anon_told_labels(v);
CREATE OR REPLACE MACRO __anon_told(v) AS __anon_told_by(list_extract(v, 0), v);

-- How many values a text label has; NULL for what is no label. Quoted values become the
-- character 1, which stands in no bare one, then the separators are counted.
CREATE OR REPLACE MACRO __anon_unquoted(x) AS
    if(contains(x, ''''), regexp_replace(x, '''(?:[^''\\]|\\[''\\])*''', chr(1), 'g'), x);
CREATE OR REPLACE MACRO __anon_set_size(x) AS CASE
    WHEN regexp_full_match(x, '[^\[\]{},''"\\\x01]+|\x01') THEN 1
    WHEN regexp_full_match(x,
        '\{(?:[^\[\]{},''"\\\x01]+|\x01)(?:, (?:[^\[\]{},''"\\\x01]+|\x01))*\}')
        THEN 1 + length(x) - length(replace(x, ',', ''))
END;

-- star: suppressed; empty: NULLs only; low, high: printed ends; count: of values;
-- quotes: it could stand for text that looks like a label.
CREATE OR REPLACE MACRO __anon_said_by_label(x, d, share) AS {
    'd': d, 'share': share,
    'star': coalesce(x = '*', false),
    'empty': x IS NULL,
    'low': CASE WHEN d.type IS NULL THEN NULL
        WHEN x[1] = '[' THEN split_part(x[2:], ', ', 1) ELSE x END,
    'high': CASE WHEN d.type IS NULL THEN NULL WHEN x[1] <> '[' THEN x
        WHEN x[-1] = ']' THEN x[strpos(x, ', ') + 2:-2] END,
    'count': CASE WHEN d.type IS NULL THEN __anon_set_size(__anon_unquoted(x)) END,
    'quotes': coalesce(x = '*' OR contains(x, ''''), false)};
CREATE OR REPLACE MACRO __anon_said_by_set(x, d, share) AS {
    'd': d, 'share': share, 'star': x IS NULL, 'empty': coalesce(len(x) = 0, false),
    'low': NULL::VARCHAR, 'high': NULL::VARCHAR, 'count': len(x), 'quotes': true};
CREATE OR REPLACE MACRO __anon_said_by_ends(x, d, share) AS {
    'd': d, 'share': share, 'star': x IS NULL, 'empty': x IS NOT NULL AND x.min IS NULL AND x.max IS NULL,
    'low': x.min, 'high': x.max, 'count': NULL::BIGINT, 'quotes': true};
CREATE OR REPLACE MACRO __anon_said_by
    (probe, x, d, share) AS
        __anon_said_by_ends(try_cast(x AS STRUCT(min VARCHAR, max VARCHAR)), d, share),
    (probe VARCHAR[], x, d, share) AS __anon_said_by_set(x, d, share),
    (probe VARCHAR, x, d, share) AS __anon_said_by_label(x::VARCHAR, d, share);
CREATE OR REPLACE MACRO __anon_said(c) AS __anon_said_by(c.x, c.x, c.d, c.share);

CREATE OR REPLACE MACRO __anon_place(c) AS {
    'd': c.d, 'share': c.share, 'star': c.star, 'empty': c.empty, 'count': c.count,
    'quotes': c.quotes,
    'low': __anon_point(c.low, c.d.type), 'high': __anon_point(c.high, c.d.type)};

-- loss: 0…1, 2 for a label that says more than the raw column holds, NULL for a malformed one.
CREATE OR REPLACE MACRO __anon_range_loss(c, d) AS CASE
    WHEN NOT coalesce(c.low <= c.high AND isfinite(c.low) AND isfinite(c.high), false) THEN NULL
    WHEN NOT coalesce(d.least <= c.low AND c.high <= d.most, false) THEN 2
    WHEN d.least = d.most THEN 0
    ELSE (c.high / 2 - c.low / 2) / (d.most / 2 - d.least / 2)
END;
CREATE OR REPLACE MACRO __anon_set_loss(c, d, __anon_ncp) AS CASE
    WHEN c.count > d.distinct THEN 2
    WHEN c.count = 1 THEN 0
    WHEN __anon_ncp = 'dop' THEN (c.count - 1) / (d.distinct + d.nulls::INTEGER - 1)
    ELSE c.count / (d.distinct + d.nulls::INTEGER)
END;
CREATE OR REPLACE MACRO __anon_cell(c, __anon_ncp) AS {
    'name': c.d.name, 'star': c.star, 'quotes': c.quotes, 'tree': c.share IS NOT NULL,
    'loss': CASE
        WHEN c.star THEN 1
        WHEN c.empty THEN if(c.d.nulls, 0, 2)
        WHEN c.share IS NOT NULL THEN if(c.share < 0, NULL, c.share)
        WHEN c.d.type IS NULL THEN __anon_set_loss(c, c.d, __anon_ncp)
        ELSE __anon_range_loss(c, c.d)
    END::DOUBLE};
