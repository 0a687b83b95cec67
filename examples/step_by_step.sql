-- A method of your own from the steps of RAYDEN: classes, outliers, labels, with SQL between them.
-- Run: anon-sql query -- "$(cat examples/step_by_step.sql)"
CREATE TABLE people AS
SELECT
    18 + i * 37 % 71 AS age,
    40000 + i * i * 131 % 60000 AS income,
    ['Accra', 'Bonn', 'Cape Town'][1 + i % 3] AS city,
    ['asthma', 'flu', 'gout', 'none'][1 + i * i // 7 % 4] AS illness
FROM range(500) AS made(i);

-- The comments of a table do not apply to a CTE, so pass the quasi-identifiers to each step.
CREATE TABLE people_release AS
WITH
parts AS (
    FROM vp_partition('people', k := 10, quasi := ['age', 'income', 'city'])
),
scored AS (
    FROM cof_score('parts', k := 10, quasi := ['age', 'income', 'city'], alpha := 1.5)
),
-- Ten or more outliers become a class of their own; fewer stay in their classes.
regrouped AS (
    SELECT * REPLACE (
        if(outlier AND count_if(outlier) OVER () >= 10
            AND count_if(NOT outlier) OVER (PARTITION BY class_id) >= 10, -1, class_id) AS class_id)
    FROM scored
)
SELECT * FROM generalize(
    'regrouped', k := 10, quasi := ['age', 'income', 'city'], sensitive := ['illness']);

SELECT age, income, city, count(*) AS rows, count(DISTINCT illness) AS illnesses
FROM people_release GROUP BY ALL ORDER BY rows DESC, age LIMIT 10;
