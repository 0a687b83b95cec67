-- What an attack is made of: persons, as the raw table has them, and what each class says of them.
--
-- A value stands beside its printed text as a key (__anon_key): keys of one column compare as its
-- values do. Ends of labels are cast to the raw column's type, so that their keys compare too.

CREATE OR REPLACE MACRO __anon_person_value(x) AS {
    'key': __anon_key(x), 'text': __anon_text(x)::VARCHAR};

-- What a released value says, as text. label: as it stands, of a text; low, high: printed ends.
CREATE OR REPLACE MACRO __anon_covers_label(x) AS {
    'star': coalesce(x = '*', false), 'empty': x IS NULL, 'label': x,
    'low': if(x[1] = '[', split_part(x[2:], ', ', 1), x),
    'high': if(x[1] = '[', x[strpos(x, ', ') + 2:-2], x), 'members': NULL::VARCHAR[]};
CREATE OR REPLACE MACRO __anon_covers_set(x) AS {
    'star': x IS NULL, 'empty': coalesce(len(x) = 0, false), 'label': NULL::VARCHAR,
    'low': NULL::VARCHAR, 'high': NULL::VARCHAR, 'members': x::VARCHAR[]};
CREATE OR REPLACE MACRO __anon_covers_ends(x) AS {
    'star': x IS NULL, 'empty': x IS NOT NULL AND x.min IS NULL AND x.max IS NULL,
    'label': NULL::VARCHAR, 'low': x.min, 'high': x.max, 'members': NULL::VARCHAR[]};
CREATE OR REPLACE MACRO __anon_covers_by
    (probe, x) AS __anon_covers_ends(try_cast(x AS STRUCT(min VARCHAR, max VARCHAR))),
    (probe VARCHAR[], x) AS __anon_covers_set(x),
    (probe VARCHAR, x) AS __anon_covers_label(x::VARCHAR);
CREATE OR REPLACE MACRO __anon_covers(__anon_name, x) AS {
    'key': __anon_fold(__anon_name), 'value': __anon_covers_by(list_extract(list_value(x), 1), x)};

-- The same with keys of the ends; text has none. v is a NULL of the raw column's type.
-- TRY stands under no condition: DuckDB 1.5 then mixes up the rows.
CREATE OR REPLACE MACRO __anon_placed_text(c) AS {
    'star': c.star, 'empty': c.empty, 'label': c.label, 'low': c.low, 'high': c.high,
    'members': c.members, 'least': NULL::BLOB, 'most': NULL::BLOB};
CREATE OR REPLACE MACRO __anon_placed_number(v, c) AS {
    'star': c.star, 'empty': c.empty, 'label': c.label, 'low': c.low, 'high': c.high,
    'members': c.members,
    'least': __anon_key(try(cast_to_type(c.low, v))),
    'most': __anon_key(try(cast_to_type(c.high, v)))};
CREATE OR REPLACE MACRO __anon_placed_by
    (probe, v, c) AS __anon_placed_text(c),
    (probe VARCHAR, v, c) AS __anon_placed_text(c),
    (probe BOOLEAN, v, c) AS __anon_placed_text(c),
    (probe UUID, v, c) AS __anon_placed_text(c),
    (probe DOUBLE, v, c) AS __anon_placed_number(v, c),
    (probe TIME, v, c) AS __anon_placed_number(v, c),
    (probe TIME_NS, v, c) AS __anon_placed_number(v, c),
    (probe TIMESTAMP, v, c) AS __anon_placed_number(v, c),
    (probe TIMESTAMPTZ, v, c) AS __anon_placed_number(v, c);
CREATE OR REPLACE MACRO __anon_placed(v, c) AS
    __anon_placed_by(list_extract(list_value(v), 1), v, c);

-- A row: alike persons in lists, `__anon_quasi_<name>` of values, `__anon_key_<name>` of sensitive
-- keys and `__anon_count`. The types of sensitive columns hold both relations' values.
CREATE OR REPLACE MACRO __anon_persons(__anon_raw, __anon_released, __anon_call) AS TABLE
WITH
__anon_rowed AS (
    (SELECT COLUMNS(lambda __anon_c: __anon_c IN ('__anon_none', '__anon_zero')
        OR __anon_measure_protects(__anon_c, __anon_call)
        OR __anon_is('quasi', __anon_c, __anon_call))
     FROM (SELECT *, {'__anon_none': 0} AS __anon_none, 0 AS __anon_zero
        FROM query_table(__anon_raw)))
    UNION ALL BY NAME
    (SELECT COLUMNS(lambda __anon_c: __anon_c = '__anon_none'
        OR __anon_measure_protects(__anon_c, __anon_call))
     FROM (SELECT *, {'__anon_none': 0} AS __anon_none FROM query_table(__anon_released)) LIMIT 0)
),
__anon_alike AS (
    SELECT
        __anon_person_value(COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_is('quasi', __anon_c, __anon_call))) AS '__anon_quasi_\0',
        __anon_key(COLUMNS(lambda __anon_c: __anon_c = '__anon_none'
            OR __anon_measure_protects(__anon_c, __anon_call))) AS '__anon_key_\0',
        count(*) AS __anon_count
    FROM __anon_rowed
    GROUP BY ALL
)
SELECT struct_pack(*COLUMNS(*)) AS __anon_people FROM (SELECT list(COLUMNS(*)) FROM __anon_alike);

-- A row: the classes in lists, what each quasi-identifier says, `__anon_size` and `__anon_class`.
CREATE OR REPLACE MACRO __anon_coverings(__anon_raw, __anon_numbered, __anon_call) AS TABLE
WITH
__anon_probes AS (
    SELECT list_extract(list(COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
        OR __anon_is('quasi', __anon_c, __anon_call))), 0)
    FROM (FROM (SELECT *, 0 AS __anon_zero FROM query_table(__anon_raw)) LIMIT 0)
),
__anon_labelled AS (
    FROM __anon_classes_labels(__anon_numbered, __anon_call)
),
__anon_said AS (
    SELECT
        __anon_covers(
            alias(COLUMNS(* EXCLUDE (__anon_size, __anon_class))),
            COLUMNS(* EXCLUDE (__anon_size, __anon_class))),
        __anon_size, __anon_class
    FROM __anon_labelled
),
__anon_mapped AS (
    SELECT
        map_from_entries(list_value(*COLUMNS(* EXCLUDE (__anon_size, __anon_class))))
            AS __anon_map,
        __anon_size, __anon_class
    FROM __anon_said
),
__anon_typed_labels AS (
    SELECT
        __anon_placed(
            COLUMNS(__anon_probes.*), __anon_map[__anon_fold(alias(COLUMNS(__anon_probes.*)))]),
        __anon_size, __anon_class
    FROM __anon_probes, __anon_mapped
)
SELECT struct_pack(*COLUMNS(*)) AS __anon_shows
FROM (SELECT list(COLUMNS(*)) FROM __anon_typed_labels);

-- One row: the check of the call, and all of the above.
CREATE OR REPLACE MACRO __anon_attacked(
    __anon_function, __anon_raw, __anon_released, __anon_call, __anon_hierarchy
) AS TABLE
WITH
__anon_numbered AS MATERIALIZED (
    FROM __anon_sensitive_classes(__anon_raw, __anon_released, __anon_call)),
__anon_asked AS MATERIALIZED (
    FROM __anon_protected(
        __anon_function, __anon_raw, __anon_released, __anon_call, __anon_hierarchy,
        '__anon_numbered', 'distinct', 3, true)),
__anon_counts AS (FROM __anon_sensitive_counts('__anon_numbered')),
__anon_counted AS (SELECT list(__anon_counts) AS __anon_counted FROM __anon_counts)
SELECT *
FROM
    __anon_asked,
    __anon_persons(__anon_raw, __anon_released, __anon_call),
    __anon_coverings(__anon_raw, '__anon_numbered', __anon_call),
    __anon_counted,
    __anon_trees(__anon_raw, __anon_call, __anon_hierarchy),
    __anon_schema(__anon_raw, 0);
