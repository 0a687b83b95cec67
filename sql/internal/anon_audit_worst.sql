-- The worst value of a measure, with the classes and columns that have it, as one row. Takes the
-- name of a CTE: __anon_class, __anon_name and __anon_measure, the greater the worse.
CREATE OR REPLACE MACRO __anon_audit_worst(__anon_measured) AS TABLE
SELECT
    __anon_worst,
    list(__anon_class) AS __anon_classes,
    list(__anon_name) AS __anon_names
FROM (SELECT max(__anon_measure) AS __anon_worst FROM query_table(__anon_measured))
    LEFT JOIN query_table(__anon_measured) ON __anon_measure = __anon_worst
GROUP BY __anon_worst;
