-- Return one entry of a recipe: what a parameter of the release is to be. The file is read while the
-- statement is bound, because the columns of the result depend on it.
CREATE OR REPLACE MACRO __anon_recipe(__anon_path, __anon_entry) AS
    system.main.struct_extract(__anon_recipe_entries_entries(__anon_path), __anon_entry);
