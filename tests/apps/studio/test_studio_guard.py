"""Who may speak to the studio: 403 and 404 for every request that has no right."""

import os
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from anon_sql.apps.studio.guard import VALID, Guard
from tests.apps.studio.visitor import listening_addresses, running


@pytest.fixture
def fresh(people):
    with running(people, "people.parquet") as found:
        yield found


def test_the_token_works_once(fresh):
    assert fresh.ask(f"/?token={'x' * 43}")[0] == 403
    status, headers, text = fresh.ask(f"/?token={fresh.token}")
    assert status == 200
    cookie = headers["Set-Cookie"]
    assert f"anon_sql_studio_{fresh.port}=" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert fresh.token not in text
    assert fresh.ask(f"/?token={fresh.token}")[0] == 403
    fresh.cookie = cookie.split(";")[0]
    assert fresh.ask("/table")[0] == 200
    assert fresh.ask(f"/?token={fresh.token}")[0] == 403


def test_a_request_of_a_foreign_host_does_not_use_the_token(fresh):
    for host in ("evil.example", f"evil.example:{fresh.port}", "127.0.0.1", "localhost:1", ""):
        assert fresh.ask(f"/?token={fresh.token}", Host=host)[0] in (400, 403)
    assert fresh.ask(f"/?token={fresh.token}", Host=f"localhost:{fresh.port}")[0] == 200


@pytest.mark.parametrize("path", ["/", "/table", "/sign", "/static/studio.js", "/data/table", "/x"])
def test_without_the_cookie_everything_is_refused(studio, path):
    assert studio.ask(path, Cookie=None)[0] == 403
    assert studio.ask(path, Cookie=f"anon_sql_studio_{studio.port}=wrong")[0] == 403
    assert studio.ask(path, Host="evil.example")[0] == 403


@pytest.mark.parametrize("path", ["/data/table", "/data/rows?confirmed=yes", "/data/progress"])
def test_data_need_the_key_of_the_page(studio, path):
    assert studio.ask(path, X_Studio_Key=None)[0] == 403
    assert studio.ask(path, X_Studio_Key="wrong")[0] == 403


@pytest.mark.parametrize(
    "path", ["/choice", "/dialect", "/write", "/save", "/stop", "/quit", "/ask", "/load"]
)
def test_what_changes_something_needs_the_own_origin_and_the_key(studio, path):
    for origin in (
        None,
        "null",
        "http://evil.example",
        f"https://{studio.host}",
        "http://127.0.0.1:1",
    ):
        assert studio.ask(path, {}, Origin=origin)[0] == 403
    assert studio.ask(path, {}, X_Studio_Key=None)[0] == 403
    assert studio.ask(path, method="PUT", Origin=None)[0] == 403
    assert studio.ask("/table")[0] == 200  # none of them has ended it


def test_two_hosts_or_origins_are_none(studio):
    lines = (
        f"POST /choice HTTP/1.1\r\nHost: {studio.host}\r\nHost: evil.example\r\n"
        f"Cookie: {studio.cookie}\r\nX-Studio-Key: {studio.key}\r\n"
        f"Origin: http://{studio.host}\r\nContent-Length: 2\r\n\r\n{{}}"
    )
    with socket.create_connection(("127.0.0.1", studio.port)) as con:
        con.sendall(lines.encode())
        assert con.recv(1000).split()[1] in (b"400", b"403")


@pytest.mark.parametrize(
    "path",
    [
        "/static/../studio.py", "/static/..%2f..%2fengine.py", "/..", "/%2e%2e/etc/passwd",
        "/static/..\\x", "/static/studio.py", "/data/secrets", "/data/_part", "/unknown",
    ],
)  # fmt: skip
def test_there_is_nothing_else(studio, path):
    assert studio.ask(path)[0] == 404


def test_rows_need_a_confirmed_click(studio):
    assert studio.ask("/data/rows?table=raw")[0] == 403
    assert studio.ask("/data/rows?table=raw&confirmed=no")[0] == 403


@pytest.mark.parametrize("path", ["/table", "/data/table", "/static/studio.css", "/nothing"])
def test_what_every_answer_says(studio, path):
    _, headers, _ = studio.ask(path)
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_pages_have_no_script_or_style_of_their_own(studio):
    for path in (
        "/table",
        "/roles",
        "/protect",
        "/check",
        "/sign",
        "/data/roles",
        "/data/controls",
    ):
        text = studio.page(path)
        assert " style=" not in text
        assert "<style" not in text
        assert " onclick" not in text
        assert "<script>" not in text
        assert "//" not in text.replace("http://www.w3.org", "").replace("<!--", "")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_it_listens_on_this_machine_alone(fresh):
    assert listening_addresses(fresh.process.pid) == [("127.0.0.1", fresh.port)]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_token_is_in_no_list_of_processes(fresh):
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert fresh.token.encode() not in path.read_bytes()
        except (OSError, ProcessLookupError):
            continue


def test_a_token_is_of_no_use_after_a_minute():
    now = [0.0]
    guard = Guard(None, 1234, lambda: now[0])
    token = guard.url.partition("=")[2]

    def answer():
        from starlette.requests import Request

        scope = {
            "type": "http", "method": "GET", "path": "/", "headers": [(b"host", b"localhost:1234")],
            "query_string": f"token={token}".encode(),
        }  # fmt: skip
        return guard._answer(Request(scope)).status_code

    now[0] = VALID + 1
    assert answer() == 403
    now[0] = 0.0
    assert answer() == 403  # it was used


def test_the_browser_is_opened_by_a_file_that_only_its_owner_reads(tmp_path, monkeypatch):
    from anon_sql.apps.cli import studio as command

    opened = []
    monkeypatch.setattr(command.webbrowser, "open", lambda url: opened.append(url) or True)
    command._open("http://127.0.0.1:1/?token=x", tmp_path)
    (page,) = tmp_path.iterdir()
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert opened == [page.as_uri()]
    assert "token=x" in page.read_text()


def folders(temporary):
    return set(temporary.glob("anon-sql-studio-*"))


def children(pid):
    found = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    return [int(each) for each in found.stdout.split()]


def gone(pids):
    for _ in range(100):
        if not [pid for pid in pids if Path(f"/proc/{pid}/stat").exists() and _lives(pid)]:
            return True
        time.sleep(0.1)
    return False


def _lives(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(") ")[1][0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_end_leaves_no_process_and_no_file(people, tmp_path, number):
    with running(people, "people.parquet", TMPDIR=str(tmp_path)) as found:
        found.enter().page("/data/roles")
        (own,) = folders(tmp_path)
        assert stat.S_IMODE(own.stat().st_mode) == 0o700
        pids = children(found.process.pid)
        assert pids
        os.kill(found.process.pid, number)
        found.process.wait(20)
        assert found.process.stdout.read() == ""  # the address is the only line
        assert gone(pids)
    assert not folders(tmp_path)


SOON = """
import anon_sql.apps.studio.server as server
assert server.IDLE == 3600
server.IDLE = 3.0
from anon_sql.apps.main import main
main()
"""


def test_a_port_that_is_taken(people, fresh):
    from tests.command import refused

    said = refused("studio", people / "people.parquet", "--no-open", "--port", str(fresh.port))
    assert said.startswith(f"studio: --port must be free, got {fresh.port}, which is not")


@pytest.mark.slow
def test_it_ends_after_an_hour_without_a_request(people, tmp_path):
    """An hour lasts three seconds here."""
    with running(people, "people.parquet", code=SOON, TMPDIR=str(tmp_path)) as found:
        found.enter()
        for _ in range(10):
            time.sleep(0.5)
            assert found.ask("/data/progress")[0] == 200
        assert found.process.poll() is None
        for _ in range(3):  # those without the cookie do not count
            time.sleep(0.2)
            assert found.ask("/table", Cookie=None)[0] == 403
        assert found.process.wait(20) == 0
    assert not folders(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing.parquet"], "studio: FILE must be a file"),
        (
            ["people.parquet", "--table", "t"],
            "studio: --table must come with a .duckdb or .db file",
        ),
        (["people.duckdb"], "studio: a database must come with --table"),
        (["nothing.toml"], "studio: the recipe must be a file of text"),
    ],
)
def test_sources_that_are_none(people, arguments, said):
    from tests.command import refused

    arguments = [people / arguments[0], *arguments[1:]]
    assert refused("studio", *arguments).startswith(said)


def test_without_the_extra_it_says_what_to_install(people, monkeypatch):
    from tests.command import refused

    monkeypatch.delitem(sys.modules, "anon_sql.apps.studio.server", raising=False)
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    assert "pip install 'anon-sql[studio]'" in refused("studio", people / "people.parquet")
