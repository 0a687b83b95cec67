-- RAYDEN's steps one by one: classes, outliers, labels. Between them there is only SQL.
-- Run: anon-sql query -- "$(cat examples/step_by_step.sql)"
CREATE TABLE people AS
SELECT
    18 + i * 37 % 71 AS age,
    40000 + i * i * 131 % 60000 AS income,
    ['Accra', 'Bonn', 'Cape Town'][1 + i % 3] AS city,
    ['asthma', 'flu', 'gout', 'none'][1 + i * i // 7 % 4] AS illness
FROM range(500) AS made(i);

-- Comments do not reach through a CTE, so each step is told its quasi-identifiers.
CREATE TABLE people_release AS
WITH
parts AS (
    FROM vp_partition('people', k := 10, qids := ['age', 'income', 'city'])
),
scored AS (
    FROM cof_score('parts', k := 10, qids := ['age', 'income', 'city'], alpha := 1.5)
),
-- Outliers go into one class of their own where they are ten or more, else they stay.
regrouped AS (
    SELECT * REPLACE (
        if(outlier AND count_if(outlier) OVER () >= 10
            AND count_if(NOT outlier) OVER (PARTITION BY class_id) >= 10, -1, class_id) AS class_id)
    FROM scored
)
SELECT * FROM generalize(
    'regrouped', k := 10, qids := ['age', 'income', 'city'], sensitive := ['illness']);

SELECT age, income, city, count(*) AS rows, count(DISTINCT illness) AS illnesses
FROM people_release GROUP BY ALL ORDER BY rows DESC, age LIMIT 10;
