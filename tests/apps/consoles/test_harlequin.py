"""Harlequin with our adapter, run without a screen: what is typed in its editor is answered."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

pytestmark = pytest.mark.slow

harlequin = pytest.importorskip("harlequin", reason="needs the extra 'harlequin'")

from harlequin.exception import HarlequinQueryError  # noqa: E402
from harlequin.plugins import load_adapter_plugins  # noqa: E402

from anon_sql.core import running  # noqa: E402
from tests.seams import Seam  # noqa: E402

WAIT = 120  # seconds that anything may take


@pytest.fixture
def adapter(tmp_path, monkeypatch):
    """Our adapter as Harlequin finds it, on a file, in a home of its own."""
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    opened = load_adapter_plugins()["anon_sql"]((str(tmp_path / "d.duckdb"),), no_init=True)
    assert opened.ADAPTER_DETAILS == "DuckDB with the functions of anon_sql."
    return opened


async def until(pilot, found):
    """What ``found`` gives as soon as it gives anything."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        await pilot.pause(0.1)
        result = found()
        if result:
            return result
    raise AssertionError("nothing came")


def test_a_release_in_the_editor(adapter):
    async def typed():
        app = harlequin.Harlequin(adapter, record_history=False)
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: app.editor is not None and app.connection is not None)
            app.connection.conn.execute(
                "CREATE TABLE t AS SELECT i % 9 AS a, i AS n FROM range(90) AS r(i)"
            )
            app.editor.text = (
                "SELECT count(*) AS n, count(DISTINCT a) AS labels "
                "FROM rayden('t', k := 45, quasi := ['a'], identifiers := ['n'])"
            )
            await pilot.press("ctrl+j")
            table = await until(
                pilot, lambda: (t := app.results_viewer.get_visible_table()) and t.row_count and t
            )
            return table.get_row_at(0)

    rows, labels = asyncio.run(typed())
    assert rows == 90
    assert 1 <= labels <= 2


def test_the_functions_are_completed(adapter):
    kinds = {found.label: found.type_label for found in adapter.connect().get_completions()}
    assert kinds["rayden"] == "fn->T"
    assert kinds["gcp"] == "fn"
    assert "regexp_matches" in kinds


def test_an_error_is_harlequins_own_and_one_sentence(adapter):
    connection = adapter.connect()
    for read in ("fetchall", "fetchone"):
        with pytest.raises(HarlequinQueryError) as caught:
            getattr(connection.execute("FROM anon_help('raydn')"), read)()
        assert caught.value.msg.startswith("anon_help: name must be one of the package's functions")
        assert caught.value.title.startswith("DuckDB raised an error")
    connection.execute("CREATE TABLE t AS SELECT 1 AS a")
    with pytest.raises(HarlequinQueryError, match=r"^rayden: quasi must name columns"):
        connection.execute("CREATE TABLE r AS FROM rayden('t', quasi := ['no'])")
    with pytest.raises(HarlequinQueryError, match="Parser Error"):
        connection.execute("SELEC 1")


def test_cancelling_stops_a_release(adapter, monkeypatch):
    connection = adapter.connect()
    connection.execute("CREATE TABLE t AS SELECT range % 50 AS a FROM range(500)")
    seam = Seam.at(monkeypatch, running, "check")
    call = "CREATE TABLE r AS FROM rayden('t', k := 3, quasi := ['a'])"
    with ThreadPoolExecutor(1) as pool:
        release = pool.submit(connection.execute, call)
        seam.arrived()
        connection.cancel()
        seam.go()
        with pytest.raises(HarlequinQueryError, match="rayden: stopped on request"):
            release.result()
    connection.execute(call)
