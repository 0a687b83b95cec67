-- Return a label as text; one of another format, whose NULL is not that of a label, as no label.
CREATE OR REPLACE MACRO __anon_earlier_label(x) AS CASE
    WHEN system.main.typeof(x) = 'VARCHAR' THEN x::VARCHAR
    ELSE '[typed]'
END;

-- Return the distinct labels of an earlier release: a list of structs of the columns that are
-- quasi-identifiers of the call; NULL without an earlier release, [] for one without rows.
CREATE OR REPLACE MACRO __anon_earlier(__anon_like, __anon_call) AS (
    WITH
    __anon_no_release AS (SELECT 0 AS __anon_blank LIMIT 0),
    __anon_shown AS (
        SELECT __anon_earlier_label(COLUMNS(lambda __anon_c: __anon_c = '__anon_none'
            OR __anon_binding_is_role('quasi', __anon_c, __anon_call))) AS '\0'
        FROM (
            SELECT *, '*' AS __anon_none
            FROM query_table(coalesce(__anon_like, '__anon_no_release')))
    ),
    __anon_packed AS (
        SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_labels FROM __anon_shown
    )
    SELECT CASE WHEN __anon_like IS NOT NULL
        THEN coalesce(system.main.list(DISTINCT __anon_labels), []) END
    FROM __anon_packed);
