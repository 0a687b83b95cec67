-- The distinct values of a column that a hierarchy names; nothing is collected of the others.
CREATE OR REPLACE MACRO __anon_held_values(x, __anon_name, __anon_attributes) AS
    list(DISTINCT if(list_contains(__anon_attributes, __anon_fold(__anon_name)), x, NULL));
