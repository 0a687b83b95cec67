-- Return one row, __anon_held: the types of earlier releases, and for each of their classes the keys
-- of its sensitive values; __anon_previous itself if it names no release. Classes that print alike in
-- several releases are one, which shows more values. A CTE is bound if it is named: without a
-- release the others cost nothing.
CREATE OR REPLACE MACRO __anon_earlier_classes(
    __anon_previous, __anon_tbl, __anon_call
) AS TABLE
WITH
__anon_never AS NOT MATERIALIZED (SELECT __anon_previous AS __anon_held),
__anon_all_earlier AS NOT MATERIALIZED (FROM query_table(__anon_names(__anon_previous), true)),
__anon_before AS NOT MATERIALIZED (
    SELECT system.main.struct_pack(
        types := __anon_types,
        classes := system.main.struct_extract(__anon_groups, '__anon_held')) AS __anon_held
    FROM
        __anon_types('__anon_all_earlier'),
        __anon_class_groups('__anon_all_earlier', __anon_tbl, __anon_call, 'sensitive'))
FROM query_table(if(__anon_all_named(__anon_previous), '__anon_before', '__anon_never'));
