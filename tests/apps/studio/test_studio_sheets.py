"""The first screen of a workbook: which sheet is read, and what the recipe says of it."""

import openpyxl
import pytest

from tests.apps.studio.visitor import running

PEOPLE = [("age", "sex", "illness"), *((20 + i % 9, "fm"[i % 2], f"v{i % 3}") for i in range(60))]
VISITS = [("visited", "ward"), *((i % 30, f"w{i % 4}") for i in range(90))]
HOSTILE = "<b>'\"& x"


@pytest.fixture
def book(tmp_path):
    """A workbook with three sheets that have rows, one of them hidden, and an empty one."""
    pytest.importorskip("python_calamine")
    made = openpyxl.Workbook()
    made.active.title = "Empty"
    for name, rows in {"People": PEOPLE, HOSTILE: VISITS, "Codes": VISITS[:5]}.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made["Codes"].sheet_state = "hidden"
    made.save(tmp_path / "people.xlsx")
    return tmp_path


def test_a_sheet_is_chosen_on_the_first_screen(book):
    with running(book, "people.xlsx") as studio:
        studio.enter()
        text = studio.page("/data/table")
        assert "must have one sheet with rows, or name it" in text
        assert "choose “People” in “Sheet”" in text
        assert 'data-control="sheet"' in text
        assert '<option value="Codes">Codes (hidden)</option>' in text
        assert "Empty" not in text
        assert "<b>" not in text
        text = studio.page("/sheet", {"sheet": HOSTILE})
        assert "<li>ward <small>varchar</small></li>" in text
        assert "<b>" not in text
        text = studio.page("/sheet", {"sheet": "People"})
        assert "<li>illness <small>varchar</small></li>" in text
        assert '<option value="People" selected>People</option>' in text
        assert "<li>ward" not in text
        assert 'data-column="illness"' in studio.page("/data/roles")
        studio.page("/save", {"recipe": "people.recipe.toml"})
    assert 'sheet = "People"' in (book / "people.recipe.toml").read_text("utf-8")
    with running(book, "people.recipe.toml") as studio:
        studio.enter()
        text = studio.page("/data/table")
        assert "<li>illness <small>varchar</small></li>" in text
        assert 'id="sheet"' not in text  # the recipe names it
        assert studio.ask("/sheet", {"sheet": "Codes"})[0] == 404


def test_a_sheet_that_is_not_there_is_a_sentence_and_the_choice_stays(book):
    with running(book, "people.xlsx") as studio:
        studio.enter()
        text = studio.page("/sheet", {"sheet": "Others"})
        assert "must have the sheet" in text
        assert 'id="sheet"' in text
        assert "illness" in studio.page("/sheet", {"sheet": "People"})


def test_a_workbook_with_one_sheet_asks_nothing(tmp_path):
    pytest.importorskip("python_calamine")
    made = openpyxl.Workbook()
    for row in PEOPLE:
        made.active.append(row)
    made.save(tmp_path / "people.xlsx")
    with running(tmp_path, "people.xlsx") as studio:
        studio.enter()
        text = studio.page("/data/table")
        assert "illness" in text
        assert 'id="sheet"' not in text
