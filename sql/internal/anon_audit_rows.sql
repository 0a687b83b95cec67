-- Both relations of an audit as lists, so that their rows can be held against each other.
--
-- A kept value is a hash, which is all that is needed to see whether two are equal; columns are
-- cast to the types that hold both relations' values first, so that equal values hash alike.

CREATE OR REPLACE MACRO __anon_audit_mark(x) AS list(hash(__anon_whole(x)));

-- One row: the quasi-identifiers' values (__anon_quasi_…) and the marks of all else (__anon_mark_…).
CREATE OR REPLACE MACRO __anon_audit_raw(__anon_raw, __anon_released, __anon_call) AS TABLE
SELECT
    list(COLUMNS(lambda __anon_c: __anon_c[:13] = '__anon_quasi_')),
    __anon_audit_mark(COLUMNS(lambda __anon_c: __anon_c[:13] <> '__anon_quasi_'))
        AS '__anon_mark_\0'
FROM (
    (SELECT
        COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_is('quasi', __anon_c, __anon_call)) AS '__anon_quasi_\0',
        COLUMNS(lambda __anon_c: NOT __anon_is('quasi', __anon_c, __anon_call))
     FROM (SELECT *, 0 AS __anon_zero FROM query_table(__anon_raw)))
    UNION ALL BY NAME
    (SELECT COLUMNS(lambda __anon_c: NOT __anon_is('quasi', __anon_c, __anon_call))
     FROM (SELECT *, 0 AS __anon_zero FROM query_table(__anon_released)) LIMIT 0)
);

-- A row a class: its labels, its size, of each sensitive column the keys in a list (__anon_key_…),
-- and of every column that is no quasi-identifier the marks (__anon_mark_…). The keys are NULL where
-- nobody needs them.
CREATE OR REPLACE MACRO __anon_audit_classes(
    __anon_raw, __anon_released, __anon_keyed, __anon_call
) AS TABLE
SELECT *, row_number() OVER () AS __anon_class
FROM (
    SELECT
        COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_is('quasi', __anon_c, __anon_call)),
        __anon_key_list(COLUMNS(lambda __anon_c: __anon_c = '__anon_none'
            OR __anon_keyed AND __anon_measure_protects(__anon_c, __anon_call)))
            AS '__anon_key_\0',
        __anon_audit_mark(COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_c[:7] <> '__anon_' AND NOT __anon_is('quasi', __anon_c, __anon_call)))
            AS '__anon_mark_\0',
        count(*) AS __anon_size
    FROM (
        (SELECT COLUMNS(lambda __anon_c: NOT __anon_is('quasi', __anon_c, __anon_call))
         FROM (SELECT *, {'__anon_none': 0} AS __anon_none FROM query_table(__anon_raw)) LIMIT 0)
        UNION ALL BY NAME
        (SELECT *, NULL::VARCHAR AS __anon_zero, {'__anon_none': 0} AS __anon_none
         FROM query_table(__anon_released))
    )
    GROUP BY ALL
);

-- The classes with the key of each person once, where it was told whose each row is. Takes the
-- names of two CTEs: the classes, and what was told of them.
CREATE OR REPLACE MACRO __anon_audit_key_once(x, __anon_persons) AS if(
    x IS NULL OR __anon_persons IS NULL, x,
    list_transform(list_distinct(list_zip(x, __anon_persons)), lambda __anon_x: __anon_x[1]));
CREATE OR REPLACE MACRO __anon_audit_once(__anon_numbered, __anon_told) AS TABLE
SELECT
    __anon_class, __anon_size,
    __anon_audit_key_once(
        COLUMNS(lambda __anon_c: __anon_c[:11] = '__anon_key_'), __anon_told_persons)
FROM
    query_table(__anon_numbered)
    LEFT JOIN (
        SELECT __anon_p.class AS __anon_class, __anon_p.persons AS __anon_told_persons
        FROM (SELECT unnest(__anon_tells.persons) AS __anon_p FROM query_table(__anon_told))
    ) USING (__anon_class);
