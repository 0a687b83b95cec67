-- Return one row, __anon_held: for each class of an earlier release the keys of its sensitive values;
-- NULL without a release. A CTE is bound if it is named: without a release the second costs nothing.
CREATE OR REPLACE MACRO __anon_earlier_classes(
    __anon_previous, __anon_tbl, __anon_call
) AS TABLE
WITH
__anon_never AS NOT MATERIALIZED (SELECT NULL AS __anon_held),
__anon_before AS NOT MATERIALIZED (
    SELECT system.main.struct_extract(__anon_groups, '__anon_held') AS __anon_held
    FROM __anon_class_groups(__anon_previous, __anon_tbl, __anon_call, 'sensitive'))
FROM query_table(if(__anon_previous IS NULL, '__anon_never', '__anon_before'));
