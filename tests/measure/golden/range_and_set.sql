-- estimate: SELECT count(*) FROM t WHERE age > 25 AND age <= 30 AND city IN ('a', 'b')
WITH
__anon_raw AS (FROM query_table('t')),
__anon_shown AS (FROM query_table('rayden')),
__anon_classed AS (FROM __anon_groups('rayden', __anon_measure_call('t', system.main.list_value('age', 'city')::VARCHAR[], NULL), 'quasi')),
__anon_answers AS (
SELECT 0 AS __anon_query, NULL::VARCHAR[] AS __anon_keys, system.main.count(*)::DOUBLE AS __anon_answer FROM "t" WHERE "age" > 25 AND "age" <= 30 AND "city" IN ('a', 'b')
),
__anon_grouped AS (
    SELECT "city" AS __anon_c0, "age" AS __anon_c1, 
        system.main.list_value()::BOOLEAN[] AS __anon_truths,
        system.main.list_value()::VARCHAR[] AS __anon_keys,
        system.main.list_value()::DOUBLE[] AS __anon_numbers,
        system.main.count(*) AS __anon_rows
    FROM __anon_shown GROUP BY ALL
)
SELECT unnest(__anon_queries_compared(
    system.main.struct_pack(function := 'query_error', mode := 'estimate', quasi := system.main.list_value('age', 'city')::VARCHAR[], queries := system.main.list_value('SELECT count(*) FROM t WHERE age > 25 AND age <= 30 AND city IN (''a'', ''b'')')::VARCHAR[]),
    (SELECT __anon_given FROM __anon_given(
        't', 'rayden', __anon_measure_call('t', system.main.list_value('age', 'city')::VARCHAR[], NULL), NULL, '__anon_classed')),
    system.main.struct_pack(c0 := (SELECT system.main.list(system.main.struct_pack(value := "city", truths := system.main.list_value(coalesce("city" IN ('a', 'b'), false))::BOOLEAN[])) FROM (SELECT DISTINCT "city" FROM __anon_raw WHERE system.main.regexp_full_match(system.main.typeof("city"), '(?s)VARCHAR|BOOLEAN|UUID|ENUM.*'))), c1 := (SELECT system.main.list(system.main.struct_pack(value := "age", truths := system.main.list_value(coalesce("age" > 25 AND "age" <= 30, false))::BOOLEAN[])) FROM (SELECT DISTINCT "age" FROM __anon_raw WHERE system.main.regexp_full_match(system.main.typeof("age"), '(?s)VARCHAR|BOOLEAN|UUID|ENUM.*')))),
    (SELECT system.main.struct_pack(labels := system.main.struct_pack(c0 := system.main.list(__anon_c0), c1 := system.main.list(__anon_c1)), truths := system.main.list(__anon_truths), keys := system.main.list(__anon_keys), numbers := system.main.list(__anon_numbers), rows := system.main.list(__anon_rows)) FROM __anon_grouped),
    system.main.list_value()::STRUCT(name VARCHAR, raw VARCHAR, released VARCHAR, least DOUBLE, most DOUBLE, strange BIGINT)[],
    (SELECT system.main.struct_pack(query := system.main.list(__anon_query), keys := system.main.list(__anon_keys), answer := system.main.list(__anon_answer)) FROM __anon_answers)), recursive := true)
