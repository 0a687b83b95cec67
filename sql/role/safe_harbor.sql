-- Which of the 18 identifiers of HIPAA Safe Harbor (45 CFR 164.514(b)(2)) each column matches, and how many
-- rows are still against the rule. It looks at names, types and values, as suggest_roles does, in a raw
-- table or a release. A column that matches nothing is reported as nothing found by this check. No result
-- says that a table meets Safe Harbor: paragraph (ii), actual knowledge, and free text need a person.
--
-- tbl: name of the relation, raw or released.
-- restricted: relation whose column zip3 has the prefixes of ZIP codes with 20,000 people or fewer,
--   of three digits; NULL for none, so that restricted prefixes are not counted.
-- as_of: date at which years of birth are turned into ages; NULL means today.
-- Returns: a row per column: column_name, column_type (without the values of an ENUM), paragraph ('A' to
--   'R', NULL for none), identifier (in words), reason, to_do (NULL if no row is left), remaining_rows and
--   remaining_values (rows and distinct values still against the rule; NULL if nothing was found). An age
--   above 89 is against the rule unless it is in one category of 90 or older, written 90+ or 90. A range that
--   reaches above 89 is too. So are dates finer than a year, and more than three digits of a ZIP code. Any
--   value of the other identifiers counts, except blanks and *. No part of the result contains a value.
-- Errors: a column name that begins with __anon_, a table whose hashes do not fit into memory; restricted
--   prefixes that are not three digits.
-- Example: SELECT column_name, paragraph, reason, remaining_rows FROM safe_harbor('people');
CREATE OR REPLACE MACRO safe_harbor(tbl, restricted := NULL, as_of := NULL) AS TABLE
WITH
__anon_overall AS MATERIALIZED (
    SELECT __anon_safe_harbor_examined(
        __anon_types, __anon_looks_, system.main.current_connection_id()) AS __anon_examined
    FROM __anon_overview('safe_harbor', tbl)
),
__anon_texts AS (
    SELECT
        system.main.unnest(system.main.list_select(
            system.main.list_value(*COLUMNS(__anon_shown.*)), __anon_examined.positions)) AS __anon_shows,
        system.main.unnest(__anon_examined.positions) AS __anon_position,
        system.main.unnest(__anon_examined.judged) AS __anon_judged
    FROM (SELECT COLUMNS(*)::VARCHAR FROM query_table(tbl)) AS __anon_shown, __anon_overall
),
-- If a column is not judged by its values, only blanks and * are counted.
__anon_tallies AS (
    SELECT
        __anon_position,
        CASE WHEN __anon_judged OR system.main.trim(__anon_shows) IN ('', '*')
            THEN system.main."left"(__anon_shows, 200) END AS __anon_text_,
        system.main.count(*) AS __anon_count
    FROM __anon_texts GROUP BY ALL
),
__anon_tallied AS (
    SELECT system.main.list(system.main.struct_pack(
        "position" := __anon_position, text := __anon_text_, rows := __anon_count)) AS __anon_tally
    FROM __anon_tallies
),
__anon_no_prefixes AS (SELECT NULL::VARCHAR AS zip3 LIMIT 0),
__anon_prefixed AS (
    SELECT system.main.list(DISTINCT coalesce(zip3::VARCHAR, '')) AS __anon_prefixes
    FROM (
        FROM __anon_no_prefixes
        UNION ALL BY NAME FROM query_table(coalesce(restricted, '__anon_no_prefixes')))
)
SELECT system.main.unnest(__anon_safe_harbor_compared(
    __anon_examined.columns, __anon_tally, __anon_prefixes,
    system.main.struct_pack(
        restricted := restricted IS NOT NULL, as_of := as_of, today := system.main.today())),
    max_depth := 2)
FROM __anon_overall, __anon_tallied, __anon_prefixed;
