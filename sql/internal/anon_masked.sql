-- Return a text with all characters replaced by * but so many at each end; all of them if there are
-- no more than would be kept.
CREATE OR REPLACE MACRO __anon_masked(__anon_text, __anon_left, __anon_right) AS CASE
    WHEN system.main.length_grapheme(__anon_text) <= __anon_left + __anon_right
        THEN system.main.repeat('*', system.main.length_grapheme(__anon_text))
    ELSE system.main.left_grapheme(__anon_text, __anon_left)
        || system.main.repeat('*',
            system.main.length_grapheme(__anon_text) - __anon_left - __anon_right)
        || system.main.right_grapheme(__anon_text, __anon_right)
END;
