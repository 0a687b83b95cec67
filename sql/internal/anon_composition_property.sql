-- The property 'composition' of audit: one row, of the sensitive column that is disclosed most.

CREATE OR REPLACE MACRO __anon_composition_property(
    __anon_raw, __anon_released, __anon_previous, __anon_share, __anon_l, __anon_synthetic,
    __anon_qids, __anon_sensitive, __anon_hierarchy, __anon_entity
) AS TABLE
WITH
__anon_composed AS (
    SELECT *, coalesce(only_together / system.main.nullif(persons, 0), 0) AS __anon_part
    FROM composition(
        __anon_raw, system.main.list_prepend(__anon_released, __anon_names(__anon_previous)),
        id := __anon_entity, sensitive := __anon_sensitive, qids := __anon_qids,
        l := system.main.greatest(2, system.main.ceil(coalesce(__anon_l, 2)))::BIGINT,
        hierarchy := __anon_hierarchy)
    WHERE system.main.len(releases) > 1
),
__anon_worst AS (FROM __anon_composed ORDER BY __anon_part DESC, attribute LIMIT 1)
SELECT
    'composition' AS property, __anon_share::DOUBLE AS required, __anon_part::DOUBLE AS found,
    if(__anon_synthetic > 0, NULL, __anon_part <= __anon_share::DOUBLE + 1e-9) AS passed,
    system.main.format(
        '{}: {} of {} persons; {}', attribute, only_together, persons, note) AS example,
    system.main.format(
        'An attack on this and the earlier releases together finds {:,} of {:,} persons; {} may be '
        || 'found.',
        only_together, persons, if(__anon_share = 0, 'none',
            system.main.format('{:.4g}%', __anon_share::DOUBLE * 100))) AS meaning
FROM __anon_worst;
