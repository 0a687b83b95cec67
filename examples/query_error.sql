-- How far queries are off on a release: given queries with bounds, then random ones at two k.
-- Run: anon-sql query -- "$(cat examples/query_error.sql)"
CREATE TABLE patients AS
SELECT
    18 + i * 37 % 71 AS age,
    ['Accra', 'Bonn', 'Cape Town'][1 + i % 3] AS city,
    DATE '2026-01-01' + (i * 11 % 300)::INTEGER AS admitted,
    20 + i * 31 % 400 AS cost,
    ['asthma', 'flu', 'gout', 'none'][1 + i * i // 7 % 4] AS illness
FROM range(2000) AS made(i);

COMMENT ON COLUMN patients.age IS 'In years. anon:quasi';
COMMENT ON COLUMN patients.city IS 'anon:quasi';
COMMENT ON COLUMN patients.admitted IS 'anon:quasi';
COMMENT ON COLUMN patients.cost IS 'anon:keep';
COMMENT ON COLUMN patients.illness IS 'anon:sensitive';

CREATE TABLE released AS FROM anonymize('patients', k := 5);

-- Given queries: true answers, estimates, and bounds of the true answers.
FROM query_error('patients', 'released', [
    'SELECT count(*) FROM patients WHERE age BETWEEN 30 AND 49 AND city = ''Bonn''',
    'SELECT avg(cost) FROM patients WHERE admitted >= ''2026-06-01'' AND NOT illness = ''none''',
    'SELECT illness, count(*) FROM patients WHERE age > 60 GROUP BY illness']);

-- Random queries, on releases with two values of k.
CREATE TABLE coarser AS FROM anonymize('patients', k := 25);
SET VARIABLE asked = (
    SELECT list(query) FROM query_workload('patients', n := 200, attributes := 2, selectivity := 0.1));
SELECT 5 AS k, * FROM workload_error('patients', 'released', getvariable('asked'))
UNION ALL
SELECT 25, * FROM workload_error('patients', 'coarser', getvariable('asked'));
