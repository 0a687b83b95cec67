-- How many people the tables that belong together single out, by what others know of them: their own
-- columns, also how many rows they have in each table, one of these rows, two of them, all of them with
-- what belongs to what. Tables are linked by foreign keys of the catalog and by links; the role of the
-- columns of a link is the role of the number of rows.
--
-- root: name of the table of people.
-- k: below_k counts people who share what is known with fewer than k - 1 others.
-- links: foreign keys that the catalog lacks, a list like ['visit.person_id -> person.person_id'].
-- leave_out: names of linked tables that are not looked at.
-- raw: for a release, the raw table of persons, whose links and roles count; NULL for raw tables. The
--   released tables have the names of the raw ones.
-- quasi: quasi-identifiers beside those declared, a list like ['visit.ward']; sensitive, identifiers
--   and keep alike.
-- sensitive: as quasi.
-- identifiers: as quasi.
-- keep: as quasi; '*' stands for every column without another role.
-- exclude: columns that are left out, a list like quasi.
-- Returns: knowledge, persons, unique_persons (no other person has it), below_k, fewest (persons who share
--   it, at least). With one row or two, each person's rows that fewest others have are known. A release
--   is compared label by label, so that people whose labels overlap count as different.
-- Errors: as release_linked for links and roles, a table that is not committed.
-- Example: SELECT * FROM linked_risk('people', quasi := ['people.age', 'people.city'], keep := 'people.illness');
CREATE OR REPLACE MACRO linked_risk(
    root, k := 5, links := NULL, leave_out := NULL, raw := NULL, quasi := NULL, sensitive := NULL,
    identifiers := NULL, keep := NULL, exclude := NULL
) AS TABLE
FROM query(__anon_linked_risk_statement(
    __anon_scope(root, system.main.struct_pack(whole := true)),
    system.main.struct_pack(
        k := k, links := links, leave_out := leave_out, raw := raw, quasi := quasi,
        sensitive := sensitive, identifiers := identifiers, keep := keep, exclude := exclude)));
