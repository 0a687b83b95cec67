-- One released table out of a plan of linked_plan, with the columns and the order of rows that
-- release_linked gives it. Tables of one plan join; those of two plans do not.
--
-- tbl: name of a table of the plan.
-- plan: name of the table in which the plan is stored.
-- Returns: the released columns in the order of the raw table; after them <child>_rows and
--   <child>_weight of each table below whose number of rows is known.
-- Errors: a plan without the table, or with rows that linked_plan has not made.
-- Example: SELECT * FROM linked_table('people', 'people_plan');
CREATE OR REPLACE MACRO linked_table(tbl, plan) AS TABLE
FROM query(__anon_linked_plan_table_statement(tbl, plan));
