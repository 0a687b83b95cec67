-- A column's name as DuckDB compares names: ASCII letters lowered.
CREATE OR REPLACE MACRO __anon_fold(__anon_x) AS system.main.translate(
    __anon_x, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz');
