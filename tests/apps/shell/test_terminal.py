"""The shell as it is typed into: keys sent to a pseudo-terminal, the screen read back."""

import os
import re
import sys
import time

import pytest

pytestmark = pytest.mark.slow

pexpect = pytest.importorskip("pexpect", reason="needs a pseudo-terminal")
pytest.importorskip("prompt_toolkit", reason="needs the extra 'shell'")

FOREIGN = {"NO_COLOR", "COLUMNS", "LINES"}  # a parallel run of the tests sets a width
READY = r"anon>[^\n]*\x1b\[\?25h"  # the prompt is drawn and the cursor shown again
RUNS = r"\x1b\[\?2004l"  # the prompt has let go of the terminal
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")
UP = "\x1b[A"
ENDLESS = "SELECT sum(a.range * b.range) FROM range(100000000) AS a, range(100000000) AS b;"


class Terminal:
    """``anon-sql shell`` on a pseudo-terminal, ready for the first statement."""

    def __init__(self, folder, *arguments, columns=100):
        environment = {
            **{name: value for name, value in os.environ.items() if name not in FOREIGN},
            "PROMPT_TOOLKIT_NO_CPR": "1",  # nobody here answers where the cursor is
            "TERM": "xterm-256color",
            "XDG_STATE_HOME": str(folder),
        }
        self.child = pexpect.spawn(
            sys.executable,
            ["-m", "anon_sql.apps.cli.app", "shell", *arguments],
            encoding="utf-8",
            env=environment,
            dimensions=(40, columns),
            timeout=600,  # kernels may have to be compiled first
        )
        self.welcome = self.until(READY)

    def until(self, pattern):
        """The raw output up to a pattern and with it."""
        self.child.expect(pattern)
        return self.child.before + self.child.after

    def answer(self, typed):
        """What is printed between a line typed and the next prompt, without escapes."""
        self.child.send(typed + "\r")
        self.until(RUNS)
        return ESCAPE.sub("", self.until(READY))

    def tab(self, typed, completed):
        """Type, press Tab, and wait for what is added."""
        self.child.send(typed + "\t")
        self.until(re.escape(completed))

    def stop(self, statement, sign=RUNS):
        """Run a statement and, once it runs, press Ctrl-C until it says that it has stopped."""
        self.child.send(statement + "\r")
        self.until(sign)
        time.sleep(0.5)  # a key that the prompt still reads is no signal
        for _ in range(60):
            self.child.sendintr()
            if self.child.expect(["stopped on request", pexpect.TIMEOUT], timeout=2) == 0:
                self.until(READY)
                return
        raise AssertionError("nothing stopped")

    def leave(self):
        self.child.sendeof()
        self.child.expect(pexpect.EOF)
        self.child.close()
        return self.child.exitstatus


@pytest.fixture
def terminal(tmp_path):
    opened = Terminal(tmp_path)
    yield opened
    opened.child.close(force=True)


def table(screen):
    """The cells of a table that DuckDB has drawn, header first."""
    rows = [line for line in screen.splitlines() if line.startswith("│")]
    return [[cell.strip() for cell in row[1:-1].split("│")] for row in rows]


def test_a_statement_of_several_lines(terminal):
    assert "anon_sql" in terminal.welcome
    terminal.child.send("SELECT 40 AS n,\r")
    terminal.child.send("';' AS mark\r")
    screen = terminal.answer(";")
    assert table(screen) == [["n", "mark"], ["int32", "varchar"], ["40", ";"]]
    assert terminal.leave() == 0


def test_the_functions_are_there_and_errors_are_red_and_one_sentence(terminal):
    terminal.answer("CREATE TABLE t AS SELECT i % 40 AS age FROM range(120) AS r(i);")
    screen = terminal.answer("SELECT count(*) AS n FROM rayden('t', k := 5, quasi := ['age']);")
    assert table(screen)[-1] == ["120"]
    terminal.child.send("FROM rayden('t', quasi := ['agee']);\r")
    raw = terminal.until(r"\x1b\[31m[^\x1b]*\x1b\[0m")
    sentence = raw.rpartition("\x1b[31m")[2].partition("\x1b[0m")[0]
    assert sentence.startswith(
        "rayden: quasi must name columns of the table, got 'agee'; did you mean"
    )
    terminal.until(READY)
    assert terminal.leave() == 0


def test_tables_are_as_wide_as_the_terminal(tmp_path):
    """DuckDB draws none for less than 80."""
    many = ", ".join(f"{at} AS column_{at}" for at in range(20))
    for columns, least in ((85, 60), (160, 130)):
        opened = Terminal(tmp_path, columns=columns)
        screen = opened.answer(f"SELECT {many};")
        assert least < max(len(line) for line in screen.splitlines() if line[:1] == "│") <= columns
        assert table(screen)[0][0] == "column_0"
        assert "…" in table(screen)[0]
        assert opened.leave() == 0


def test_the_tables_of_the_demonstration(tmp_path):
    opened = Terminal(tmp_path, "--demo", "--k", "25", columns=80)
    assert "FROM adult_release LIMIT 5;" in opened.welcome
    screen = opened.answer("SELECT k_anonymity('adult', 'adult_release') AS k;")
    assert table(screen)[-1] == ["25"]
    assert opened.leave() == 0


def test_tab_completes(terminal):
    terminal.tab("SELECT anon_max", "(")
    screen = terminal.answer("'[17, 23]') AS top;")
    assert table(screen)[-1] == ["23"]
    terminal.answer("CREATE TABLE persons AS SELECT 1 AS age;")
    terminal.tab("SELECT * FROM anon_roles('pers", "ons")
    terminal.tab("', quas", "i :")  # the colours part the sign
    terminal.tab("['ag", "e")
    screen = terminal.answer("']);")
    assert table(screen)[-1][:3] == ["age", "INTEGER", "quasi"]


def test_typing_is_coloured(terminal):
    terminal.child.send("SELECT")
    assert re.search(r"\x1b\[0;38;5;\d+(;\d+)*mSELECT", terminal.until("SELECT"))


def test_commands(terminal):
    help_of = terminal.answer("\\h rayden")
    assert "FROM rayden(tbl, k := 5" in help_of
    assert "Returns: the columns of the source without the identifiers" in help_of
    assert "Example: SELECT * FROM rayden('people'" in help_of
    assert "did you mean rayden?" in terminal.answer("\\h raydn")
    assert ["rayden", "Releases"] in [row[:2] for row in table(terminal.answer("\\h"))]
    terminal.answer("CREATE TABLE persons AS SELECT 1 AS age;")
    assert table(terminal.answer("\\d"))[-1][0] == "persons"
    assert table(terminal.answer("\\d persons"))[-1][:2] == ["age", "INTEGER"]
    assert "\\h FUNCTION" in terminal.answer("\\?")
    assert "shell: a command must be known, got '\\x'; \\? lists them" in terminal.answer("\\x")
    terminal.child.send("\\q\r")
    terminal.child.expect(pexpect.EOF)


def test_ctrl_c_stops_a_query_and_keeps_the_shell(terminal):
    terminal.answer("CREATE TABLE kept AS SELECT 41 AS n;")
    terminal.stop(ENDLESS)
    assert table(terminal.answer("SELECT n + 1 AS more FROM kept;"))[-1] == ["42"]
    assert terminal.leave() == 0


def test_ctrl_c_stops_a_release(terminal):
    terminal.answer(
        "CREATE TABLE t AS SELECT hash(i) % 997 AS a, hash(-i) % 991 AS b FROM range(20000) AS r(i);"
    )
    made = "CREATE TABLE made AS FROM anonymize('t', effort := 'best', time_limit := 3600, quasi := ['a', 'b']);"
    terminal.stop(made, sign="anonymize [^c\n]*━")  # the bar of progress: its kernels run
    assert "made" not in terminal.answer("\\d")
    assert table(terminal.answer("SELECT count(*) AS n FROM t;"))[-1] == ["20000"]


def test_ctrl_c_forgets_what_stands_at_the_prompt(terminal):
    terminal.child.send("SELECT nonsense\r")
    terminal.until("    >")
    terminal.child.send("\x03")
    terminal.until(READY)
    assert table(terminal.answer("SELECT 1 AS n;"))[-1] == ["1"]


def test_history_outlives_the_shell(tmp_path):
    first = Terminal(tmp_path)
    first.answer("SELECT 6 * 7 AS answer;")
    assert first.leave() == 0
    (kept,) = tmp_path.glob("anon_sql/history")
    assert "SELECT 6 * 7 AS answer;" in kept.read_text()
    assert kept.stat().st_mode & 0o077 == 0
    second = Terminal(tmp_path)
    assert table(second.answer(UP))[-1] == ["42"]
    assert second.leave() == 0


def test_a_database_file(tmp_path):
    path = tmp_path / "d.duckdb"
    opened = Terminal(tmp_path, str(path))
    assert "d.duckdb" in opened.welcome
    opened.answer("CREATE TABLE t AS SELECT i % 9 AS a FROM range(90) AS r(i);")
    assert table(opened.answer("SELECT count(*) AS n FROM rayden('t', quasi := ['a']);"))[-1] == [
        "90"
    ]
    assert opened.leave() == 0
    again = Terminal(tmp_path, str(path))
    assert table(again.answer("SELECT count(*) AS n FROM t;"))[-1] == ["90"]
    assert again.leave() == 0
