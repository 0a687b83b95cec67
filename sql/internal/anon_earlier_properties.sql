-- The properties of audit that are about earlier releases: what attacks on all releases find.
-- series: the state of a series, which tells the companions, who are left out then.

CREATE OR REPLACE MACRO __anon_earlier_properties(
    __anon_function, __anon_raw, __anon_released, __anon_previous, __anon_share, __anon_l, __anon_synthetic,
    __anon_quasi, __anon_sensitive, __anon_keep, __anon_hierarchy, __anon_entity,
    __anon_series := NULL
) AS TABLE
SELECT system.main.unnest(
    __anon_composition_properties(
        system.main.struct_pack(
            l := system.main.greatest(2, system.main.ceil(coalesce(__anon_l, 2)))::BIGINT,
            share := __anon_share::DOUBLE, synthetic := __anon_synthetic::BIGINT,
            series := __anon_series IS NOT NULL),
        __anon_read, __anon_persons, __anon_parts),
    recursive := true)
FROM __anon_releases_read(
    __anon_function, 'previous', __anon_raw,
    system.main.list_prepend(__anon_released, __anon_names(__anon_previous)), __anon_entity,
    __anon_hierarchy,
    __anon_composed_call(__anon_raw, __anon_quasi, __anon_sensitive, __anon_keep));
