-- literal: SELECT count(*) FROM t WHERE age = 25 AND city <> 'b'
WITH
__anon_raw AS (FROM query_table('t')),
__anon_shown AS (FROM query_table('rayden')),
__anon_checked AS MATERIALIZED (SELECT __anon_rows AS rows FROM __anon_measured('query_error', 't', 'rayden', 5, 'share', __anon_measure_call('t', ['age', 'city'], NULL))),
__anon_types AS (SELECT list_extract(list("age"), 0) AS "age", list_extract(list("city"), 0) AS "city" FROM (FROM __anon_raw LIMIT 0)),
__anon_least AS (SELECT __anon_query_literal(__anon_types."age", __anon_types."age", __anon_shown."age") AS "age", __anon_query_literal(__anon_types."city", __anon_types."city", __anon_shown."city") AS "city" FROM __anon_shown, __anon_types),
__anon_answers AS (
SELECT 0 AS __anon_query, NULL::VARCHAR[] AS __anon_keys, count(*)::DOUBLE AS __anon_answer FROM "t" WHERE "age" = 25 AND "city" <> 'b'
),
__anon_found AS (
SELECT 0 AS __anon_query, NULL::VARCHAR[] AS __anon_keys, count(*)::DOUBLE AS __anon_answer FROM __anon_least WHERE "age" = 25 AND "city" <> 'b'
)
SELECT unnest(__anon_query_compared(
    {'function': 'query_error', 'raw': 't', 'quasi': ['age', 'city']::VARCHAR[],
    'checked': (SELECT __anon_checked FROM __anon_checked),
    'queries': ['SELECT count(*) FROM t WHERE age = 25 AND city <> ''b''']},
    NULL, NULL,
    []::STRUCT(name VARCHAR, raw VARCHAR, released VARCHAR, least DOUBLE, most DOUBLE, strange BIGINT)[],
    (SELECT {'query': list(__anon_query), 'keys': list(__anon_keys), 'answer': list(__anon_answer)} FROM __anon_answers),
    (SELECT {'query': list(__anon_query), 'keys': list(__anon_keys), 'answer': list(__anon_answer)} FROM __anon_found)), recursive := true)
