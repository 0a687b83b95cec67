# ruff: noqa: F811
"""The Roles screen of the studio in headless Chromium: rows out of view, hundreds of columns, keys."""

import duckdb
import pytest

from tests.apps.studio.test_studio_browser import Page, checked, chromium, people  # noqa: F401
from tests.apps.studio.visitor import running

pytestmark = pytest.mark.slow


def test_roles_are_confirmed_only_if_their_rows_were_in_view(chromium, tmp_path):
    columns = ", ".join(f"i % {n + 2} AS question_{n}" for n in range(40))
    duckdb.connect().execute(
        f"COPY (SELECT {columns} FROM range(200) AS made(i)) TO '{tmp_path / 'people.parquet'}'"
    )
    with running(tmp_path, "people.parquet") as studio:
        page = Page(chromium, studio)
        page.page.goto(f"http://{studio.host}/roles")
        page.shows("#unseen:has-text('not in view yet')")
        page.settled()

        def unread():
            page.page.wait_for_timeout(400)
            page.settled()
            return page.page.text_content("#unread")

        page.press("c")
        assert "columns were not in view yet" in page.page.text_content("#said")
        assert unread() == "40 of 40 roles are not confirmed yet."
        page.page.fill("#find", "question_1")
        assert page.page.text_content("#confirm-all") == "Confirm 11 shown (c)"
        page.page.click("#confirm-all")
        assert unread() == "40 of 40 roles are not confirmed yet."
        page.page.fill("#find", "")
        page.page.click("#all")
        page.page.select_option("#ticked-role", "exclude")
        before = int(page.page.text_content("#unseen").split()[0])
        assert 0 < before < 40
        page.page.click("#set-ticked")
        assert unread() == f"{before} of 40 roles are not confirmed yet."
        assert set(roles_of(page)) == {"exclude"}
        for row in page.page.locator(".roles tbody tr").all():
            row.scroll_into_view_if_needed()
            page.page.wait_for_timeout(60)
        page.page.wait_for_function("() => !document.querySelector('#unseen').textContent")
        page.press("c")
        page.page.wait_for_function(
            "() => document.querySelector('#unread').textContent === 'All roles are confirmed.'"
        )
        page.page.goto(f"http://{studio.host}/roles")
        page.shows("#unread:has-text('All roles are confirmed.')")
        assert page.page.text_content("#unseen") == ""
        page.close()


def roles_of(page):
    return page.page.eval_on_selector_all(
        ".roles tbody tr", "rows => rows.map(row => row.querySelector('.role').value)"
    )


def test_hundreds_of_columns_are_found_filtered_and_set_with_the_keyboard(chromium, tmp_path):
    items = ", ".join(f"(i * {n + 3}) % {n % 7 + 2} AS item_{n:03}" for n in range(296))
    duckdb.connect().execute(
        "COPY (SELECT 'p' || i AS name, i % 70 AS age, 'v' || i % 4 AS diagnosis, "
        f"i % 2 AS sex, {items} FROM range(60) AS made(i)) TO '{tmp_path / 'people.parquet'}'"
    )
    with running(tmp_path, "people.parquet") as studio:
        page = Page(chromium, studio)
        page.page.set_default_timeout(120_000)
        page.page.goto(f"http://{studio.host}/roles")
        page.shows(".roles")
        page.settled()
        assert page.page.locator(".roles tbody tr").count() == 300
        page.press("/")
        page.page.keyboard.type("ITEM_29")
        assert page.page.text_content("#shown") == "6 of 300 columns are shown."
        page.press("Enter", "Space")
        shown = "document.activeElement.dataset.column"
        assert page.page.evaluate(shown) == "item_290"
        assert page.page.text_content("#set-ticked") == "Set 1"
        page.press("a")
        assert page.page.text_content("#set-ticked") == "Set 6"
        page.page.fill("#find", "item_2")
        assert page.page.text_content("#set-ticked") == "Set 6"
        assert not page.page.is_checked("#all")
        page.page.evaluate("document.activeElement.blur()")
        page.press("a")
        page.page.fill("#find", "sex")
        assert page.page.text_content("#set-ticked") == "Set 96, 96 not shown"
        page.page.select_option("#ticked-role", "exclude")
        page.focus("#set-ticked")
        page.press("Enter")
        page.page.wait_for_function(
            "() => !document.querySelector('#unread').textContent.startsWith('300')"
        )
        page.settled()
        page.page.fill("#find", "")
        assert roles_of(page)[-96:] == ["exclude"] * 96
        left = int(page.page.text_content("#unread").split()[0])
        assert 204 < left < 300  # those of item_2 that did not fit into the window
        page.page.select_option("#suggestion", "sensitive")
        names = ".roles tbody tr:not([hidden])"
        columns = page.page.eval_on_selector_all(names, "rows => rows.map(r => r.dataset.column)")
        assert "diagnosis" in columns
        assert "name" not in columns
        page.page.select_option("#suggestion", "")
        page.page.select_option("#filter", "unread")
        assert page.page.locator(names).count() == left
        page.page.goto(f"http://{studio.host}/roles")  # the server has what the screen showed
        page.shows(".roles")
        assert roles_of(page)[-96:] == ["exclude"] * 96
        assert page.page.text_content("#unread").startswith(f"{left} of 300")
        page.close()


def test_a_key_sets_no_role_of_a_row_that_is_not_focused(chromium, tmp_path):
    with running(people(tmp_path), "people.parquet") as studio:
        page = Page(chromium, studio)
        page.page.goto(f"http://{studio.host}/roles")
        page.shows(".roles")
        page.settled()
        before = roles_of(page)
        page.page.fill("#find", "height")
        page.press("Escape", "5")
        page.page.wait_for_timeout(300)
        assert roles_of(page) == before
        page.press("ArrowDown", "5")
        assert roles_of(page)[2] == "exclude"
        assert page.page.text_content("#set-ticked") == "Set"
        assert page.page.is_disabled("#set-ticked")
        page.close()
