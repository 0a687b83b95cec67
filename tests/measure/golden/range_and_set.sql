-- estimate: SELECT count(*) FROM t WHERE age > 25 AND age <= 30 AND city IN ('a', 'b')
WITH
__anon_raw AS (FROM query_table('t')),
__anon_shown AS (FROM query_table('rayden')),
__anon_checked AS MATERIALIZED (SELECT __anon_rows AS rows FROM __anon_measured('query_error', 't', 'rayden', 5, 'share', __anon_measure_call('t', ['age', 'city'], NULL))),
__anon_answers AS (
SELECT 0 AS __anon_query, NULL::VARCHAR[] AS __anon_keys, count(*)::DOUBLE AS __anon_answer FROM "t" WHERE "age" > 25 AND "age" <= 30 AND "city" IN ('a', 'b')
),
__anon_grouped AS MATERIALIZED (
    SELECT
        "city", "age", []::BOOLEAN[] AS __anon_truths,
        []::VARCHAR[] AS __anon_keys,
        []::DOUBLE[] AS __anon_numbers,
        count(*) AS __anon_rows
    FROM __anon_shown GROUP BY ALL
),
__anon_classes AS MATERIALIZED (
    SELECT *, [dense_rank() OVER (ORDER BY "city" IS NULL, "city"), dense_rank() OVER (ORDER BY "age" IS NULL, "age")]::BIGINT[] AS __anon_codes FROM __anon_grouped
),
__anon_labels_1 AS MATERIALIZED (
    SELECT __anon_codes[1] AS __anon_code, any_value("city") AS __anon_shown
    FROM __anon_classes, __anon_checked GROUP BY 1
),
__anon_values_1 AS (SELECT "city" AS __anon_value FROM __anon_raw),
__anon_points_1 AS MATERIALIZED (
    SELECT __anon_at, __anon_printed, __anon_place, __anon_value AS "city"
    FROM __anon_query_axis('__anon_labels_1', '__anon_values_1', ['a', 'b']::VARCHAR[])
),
__anon_axis_1 AS (
    SELECT
        typeof(any_value("city")) AS kind,
        list(__anon_at) AS step,
        list(__anon_printed) AS printed,
        list(__anon_place) AS place,
        list([coalesce("city" IN ('a', 'b'), false)]::BOOLEAN[]) AS truths
    FROM __anon_points_1
),
__anon_read_1 AS (
    SELECT
        list(__anon_code) AS code,
        list(__anon_query_label("city", "city", __anon_shown)) AS said
    FROM __anon_labels_1, (SELECT "city" FROM __anon_points_1 WHERE __anon_at = 0)
),
__anon_labels_2 AS MATERIALIZED (
    SELECT __anon_codes[2] AS __anon_code, any_value("age") AS __anon_shown
    FROM __anon_classes, __anon_checked GROUP BY 1
),
__anon_values_2 AS (SELECT "age" AS __anon_value FROM __anon_raw),
__anon_points_2 AS MATERIALIZED (
    SELECT __anon_at, __anon_printed, __anon_place, __anon_value AS "age"
    FROM __anon_query_axis('__anon_labels_2', '__anon_values_2', ['25', '30']::VARCHAR[])
),
__anon_axis_2 AS (
    SELECT
        typeof(any_value("age")) AS kind,
        list(__anon_at) AS step,
        list(__anon_printed) AS printed,
        list(__anon_place) AS place,
        list([coalesce("age" > 25 AND "age" <= 30, false)]::BOOLEAN[]) AS truths
    FROM __anon_points_2
),
__anon_read_2 AS (
    SELECT
        list(__anon_code) AS code,
        list(__anon_query_label("age", "age", __anon_shown)) AS said
    FROM __anon_labels_2, (SELECT "age" FROM __anon_points_2 WHERE __anon_at = 0)
)
SELECT unnest(__anon_query_compared(
    {'function': 'query_error', 'raw': 't', 'quasi': ['age', 'city']::VARCHAR[],
    'checked': (SELECT __anon_checked FROM __anon_checked),
    'queries': ['SELECT count(*) FROM t WHERE age > 25 AND age <= 30 AND city IN (''a'', ''b'')']},
    (SELECT {'codes': list(__anon_codes), 'truths': list(__anon_truths), 'keys': list(__anon_keys),
        'numbers': list(__anon_numbers), 'rows': list(__anon_rows)} FROM __anon_classes),
    [{'name': 'city', 'axis': (SELECT __anon_axis_1 FROM __anon_axis_1), 'read': (SELECT __anon_read_1 FROM __anon_read_1), 'nulls': (SELECT count(*) > count("city") FROM __anon_raw), 'leaves': NULL, 'lacks': 0},
        {'name': 'age', 'axis': (SELECT __anon_axis_2 FROM __anon_axis_2), 'read': (SELECT __anon_read_2 FROM __anon_read_2), 'nulls': (SELECT count(*) > count("age") FROM __anon_raw), 'leaves': NULL, 'lacks': 0}]::STRUCT(name VARCHAR, axis STRUCT(kind VARCHAR, step BIGINT[], printed VARCHAR[], place DOUBLE[], truths BOOLEAN[][]), read STRUCT(code BIGINT[], said STRUCT(star BOOLEAN, empty BOOLEAN, low VARCHAR, high VARCHAR, members VARCHAR[])[]), nulls BOOLEAN, leaves VARCHAR[][], lacks BIGINT)[],
    []::STRUCT(name VARCHAR, raw VARCHAR, released VARCHAR, least DOUBLE, most DOUBLE, strange BIGINT)[],
    (SELECT {'query': list(__anon_query), 'keys': list(__anon_keys), 'answer': list(__anon_answer)} FROM __anon_answers),
    NULL), recursive := true)
