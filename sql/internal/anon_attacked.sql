-- Return one row for an attack on people of a raw table and on those of a control: __anon_given, the groups
-- of both (__anon_persons, __anon_controls), and the types of the control, NULL without one. __anon_control: NULL for none.
-- __anon_kind: of the columns that the attacker wants to learn, 'none' or 'sensitive'.
CREATE OR REPLACE MACRO __anon_attacked(
    __anon_raw, __anon_released, __anon_control, __anon_call, __anon_kind, __anon_hierarchy
) AS TABLE
WITH
__anon_classed AS (
    FROM __anon_class_groups(__anon_released, __anon_raw, __anon_call, __anon_kind)),
__anon_no_one AS (FROM query_table(__anon_raw) LIMIT 0)
SELECT
    __anon_given, __anon_p.__anon_groups AS __anon_persons, __anon_c.__anon_groups AS __anon_controls,
    if(__anon_control IS NULL, NULL, __anon_types) AS __anon_types
FROM
    __anon_given(__anon_raw, __anon_released, __anon_call, __anon_hierarchy, '__anon_classed'),
    __anon_class_groups(__anon_raw, __anon_released, __anon_call, __anon_kind) AS __anon_p,
    __anon_class_groups(
        coalesce(__anon_control, '__anon_no_one'), __anon_released, __anon_call, __anon_kind) AS __anon_c,
    __anon_types(coalesce(__anon_control, '__anon_no_one'));
