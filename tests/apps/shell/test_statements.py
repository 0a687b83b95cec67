"""Where a statement ends, whatever stands in it."""

import pytest

from anon_sql.apps.shell.statements import finished, inputs, without_end


@pytest.mark.parametrize(
    "text",
    [
        *("SELECT 1;", "SELECT 1; ", "SELECT 1; -- done", "SELECT ';' /* ; */;", "SELECT 'é';"),
        *(
            "SELECT $$;$$;",
            'SELECT 1 AS ";";',
            "SELECT 1; SELECT 2;",
            "SELEC 1;",
            ";",
            "SELECT 1;;",
        ),
        *("", " ", "\n", "-- nothing", "\\h rayden", " \\q", "\\nonsense"),
    ],
)
def test_enter_runs_it(text):
    assert finished(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "SELECT 1",
            "SELECT 1; SELECT 2",
            "SELECT 1 -- ;",
            "SELECT 1 /* ;",
            "SELECT ';",
            "SELECT ';'",
        ),
        *('SELECT 1 AS ";', "SELECT $$;", "SELECT $x$;$$;", "SELECT 1; SELECT 'a;", "SELECT 'é;'"),
    ],
)
def test_enter_begins_a_line(text):
    assert not finished(text)


def test_a_script_in_its_inputs():
    script = "SELECT 1;\n\nSELECT\n  ';\n';\n\\d\nSELECT 2; SELECT 3;\nSELECT 4"
    assert [text.strip() for text in inputs(script.splitlines(keepends=True))] == [
        "SELECT 1;",
        "SELECT\n  ';\n';",
        "\\d",
        "SELECT 2; SELECT 3;",
        "SELECT 4",
    ]


def test_a_backslash_within_a_statement_is_no_command():
    assert list(inputs(["SELECT '\n", "\\q';\n"])) == ["SELECT '\n\\q';\n"]
    assert list(inputs([])) == []


@pytest.mark.parametrize(
    ("sql", "left"),
    [
        ("SELECT 1 AS a; -- note\n", "SELECT 1 AS a"),
        ("SELECT 1 AS a /* ; */ ;; /* x; */ ;", "SELECT 1 AS a /* ; */ "),
        ("SELECT 'é;'; -- é;", "SELECT 'é;'"),
        ("SELECT $$;$$ -- x;", "SELECT $$;$$ -- x;"),
        ("SELECT 1; -- a\nSELECT 2; -- b", "SELECT 1; -- a\nSELECT 2"),
        ("-- nothing", "-- nothing"),
        ("", ""),
    ],
)
def test_the_end_of_a_statement_is_cut(sql, left):
    assert without_end(sql) == left
