-- From raw rows to a measured release: roles in comments, one call, and what it has lost.
-- Run: anon-sql query -- "$(cat examples/first_release.sql)"
CREATE TABLE patients AS
SELECT
    i AS patient_id,
    18 + i * 37 % 71 AS age,
    ['Accra', 'Bonn', 'Cape Town'][1 + i % 3] AS city,
    DATE '2026-01-01' + (i * 11 % 300)::INTEGER AS admitted,
    ['asthma', 'flu', 'gout', 'none'][1 + i * i // 7 % 4] AS illness
FROM range(500) AS made(i);

COMMENT ON COLUMN patients.patient_id IS 'Key of the hospital. anon:identifier';
COMMENT ON COLUMN patients.age IS 'In years. anon:quasi';
COMMENT ON COLUMN patients.city IS 'anon:quasi';
COMMENT ON COLUMN patients.admitted IS 'anon:quasi';
COMMENT ON COLUMN patients.illness IS 'anon:sensitive';

-- Store the release: a view repeats the work on every read.
CREATE TABLE patients_release AS FROM anonymize('patients', k := 5);

FROM utility('patients', 'patients_release', k := 5);
