-- A population beside the raw table whose release is at risk.

-- Its quasi-identifiers, in the types that hold the raw table's values too. __anon_none stands in
-- where there is none.
CREATE OR REPLACE MACRO __anon_population(__anon_raw, __anon_people, __anon_call) AS TABLE
(SELECT COLUMNS(lambda __anon_c: __anon_c = '__anon_none'
    OR __anon_binding_is_role('quasi', __anon_c, __anon_call))
 FROM (SELECT *, 0 AS __anon_none FROM query_table(__anon_raw)) LIMIT 0)
UNION ALL BY NAME
(SELECT COLUMNS(lambda __anon_c: __anon_c = '__anon_none'
    OR __anon_binding_is_role('quasi', __anon_c, __anon_call))
 FROM (SELECT *, 0 AS __anon_none FROM query_table(__anon_people)));
