-- Return one row, __anon_earlier: for each earlier release its name and the hash of its rows.
CREATE OR REPLACE MACRO __anon_earlier_hashes(__anon_previous) AS TABLE
WITH
__anon_no_release AS (SELECT 0::TINYINT AS __anon_none WHERE false),
__anon_none_earlier AS NOT MATERIALIZED (
    SELECT []::STRUCT("name" VARCHAR, rows_sha256 VARCHAR)[] AS __anon_earlier
),
__anon_all_earlier AS NOT MATERIALIZED (
    SELECT system.main.list_transform(
        __anon_names(__anon_previous), lambda __anon_x, __anon_i: {
            'name': __anon_x,
            'rows_sha256': [
                __anon_1.__anon_sha256, __anon_2.__anon_sha256, __anon_3.__anon_sha256,
                __anon_4.__anon_sha256, __anon_5.__anon_sha256, __anon_6.__anon_sha256,
                __anon_7.__anon_sha256, __anon_8.__anon_sha256, __anon_9.__anon_sha256,
                __anon_10.__anon_sha256, __anon_11.__anon_sha256][__anon_i]}) AS __anon_earlier
    FROM
        __anon_rows_sha256(coalesce(__anon_names(__anon_previous)[1], '__anon_no_release')) AS __anon_1,
        __anon_rows_sha256(coalesce(__anon_names(__anon_previous)[2], '__anon_no_release')) AS __anon_2,
        __anon_rows_sha256(coalesce(__anon_names(__anon_previous)[3], '__anon_no_release')) AS __anon_3,
        __anon_rows_sha256(coalesce(__anon_names(__anon_previous)[4], '__anon_no_release')) AS __anon_4,
        __anon_rows_sha256(coalesce(__anon_names(__anon_previous)[5], '__anon_no_release')) AS __anon_5,
        __anon_rows_sha256(coalesce(__anon_names(__anon_previous)[6], '__anon_no_release')) AS __anon_6,
        __anon_rows_sha256(coalesce(__anon_names(__anon_previous)[7], '__anon_no_release')) AS __anon_7,
        __anon_rows_sha256(coalesce(__anon_names(__anon_previous)[8], '__anon_no_release')) AS __anon_8,
        __anon_rows_sha256(coalesce(__anon_names(__anon_previous)[9], '__anon_no_release')) AS __anon_9,
        __anon_rows_sha256(coalesce(__anon_names(__anon_previous)[10], '__anon_no_release')) AS __anon_10,
        __anon_rows_sha256(coalesce(__anon_names(__anon_previous)[11], '__anon_no_release')) AS __anon_11
)
FROM query_table(if(
    __anon_all_named(__anon_previous), '__anon_all_earlier', '__anon_none_earlier'));
