"""The studio in headless Chromium: by the keyboard alone, nothing on the console, nothing too wide."""

import json
import re
import shutil

import duckdb
import pytest

from anon_sql.hosts.files import digest
from tests.apps.studio.conftest import PEOPLE
from tests.apps.studio.test_studio_signing import WRITTEN, left
from tests.apps.studio.visitor import running

pytestmark = pytest.mark.slow

ADULT = dict.fromkeys(  # keys of roles by column; all others are left out
    ("age", "workclass", "education_num", "marital_status", "occupation", "race", "sex",
     "native_country"), "2",
) | {"income": "3"}  # fmt: skip
SIZES = {"desk": (1440, 900), "small": (1024, 700), "twice as large": (720, 450)}
NAMELESS = """
    () => [...document.querySelectorAll('button, a[href], input, select, textarea')]
        .filter(each => each.checkVisibility())
        .filter(each => !(each.labels?.length || each.ariaLabel || each.textContent.trim()))
        .map(each => each.outerHTML)
"""
PALE = """
    () => {
        const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
        const light = (color) => color.slice(0, 3).map(each => each / 255)
            .map(each => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4)
            .reduce((sum, each, at) => sum + each * [0.2126, 0.7152, 0.0722][at], 0);
        const behind = (each) => {
            for (; each; each = each.parentElement) {
                const found = numbers(getComputedStyle(each).backgroundColor);
                if (found.length === 3 || found[3] === 1) return found;
            }
            return [255, 255, 255];
        };
        const contrast = (text, back) => {
            const [low, high] = [light(text), light(back)].sort((a, b) => a - b);
            return (high + 0.05) / (low + 0.05);
        };
        const said = (each) => [...each.childNodes].some(node => node.nodeType === 3 && node.data.trim());
        return [...document.querySelectorAll('body *')]
            .filter(each => each.checkVisibility() && !each.disabled && (said(each) || each.placeholder))
            .map(each => [each, getComputedStyle(each, said(each) ? null : '::placeholder')])
            .map(([each, style]) => [each, numbers(each.ownerSVGElement ? style.fill : style.color)])
            .filter(([each, color]) => contrast(color, behind(each)) < 4.5)
            .map(([each, color]) => `${each.outerHTML.slice(0, 80)} ${color} on ${behind(each)}`);
    }
"""


@pytest.fixture(scope="module")
def chromium():
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"),
                args=["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
            )
        except api.Error as error:
            pytest.skip(f"no Chromium: {error.message.splitlines()[0]}")
        yield browser
        browser.close()


class Page:
    """A page of the studio, and what it said and asked for."""

    def __init__(self, browser, studio, size="desk"):
        width, height = SIZES[size]
        self.context = browser.new_context(viewport={"width": width, "height": height})
        self.page = self.context.new_page()
        self.said, self.asked, self.host = [], [], studio.host
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on(
            "response", lambda answer: answer.status >= 400 and self.said.append(answer.url)
        )
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(studio.address)
        self.shows("[data-source]")

    def shows(self, what, seconds=60):
        return self.page.wait_for_selector(what, timeout=seconds * 1000)

    def previews(self, what, k):
        """Wait for what the preview of k shows; on a slow machine a button asks for it."""
        button = f"#preview [data-k='{k}'] [data-follow]"
        self.shows(f"{what}, {button}")
        if self.page.locator(button).count():
            self.focus(button)
            self.press("Enter")
        self.shows(what)

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def settled(self):
        """Wait until no part of the screen is out of date."""
        self.page.wait_for_function(
            "() => !document.querySelector('[aria-busy=true], #running:not([hidden])')",
            timeout=120_000,
        )

    def focus(self, what):
        """Press Tab until something has the focus."""
        for _ in range(80):
            if self.page.evaluate(f"() => document.activeElement.matches({what!r})"):
                return
            self.press("Tab")
        pytest.fail(f"the keyboard does not reach {what}")

    def close(self):
        assert self.said == []
        assert all(re.match(f"http://{re.escape(self.host)}/", url) for url in self.asked)
        self.context.close()


def checked(page):
    """Go on from Protect, and let the release be made and judged."""
    page.focus("a.button")
    page.press("Enter")
    page.shows("[data-key=r]")
    page.press("r")
    page.shows("[aria-label=Audit]")
    page.settled()
    assert page.page.text_content("#verdict").strip() == "✓ green"


def signed(page):
    """Go on to Sign, and write the files."""
    page.press("n")
    page.shows("[aria-label=Files]")
    page.focus("#purpose")
    page.page.keyboard.type("A study")
    page.focus("#recipient")
    page.page.keyboard.type("A university")
    page.focus("button.main")
    page.press("Enter")
    page.shows(".done")


def people(folder, rows=""):
    duckdb.connect().execute(f"COPY ({PEOPLE} {rows}) TO '{folder / 'people.parquet'}'")
    return folder


def test_from_start_to_signed_files_with_the_keyboard_alone(chromium, tmp_path):
    with running(people(tmp_path), "people.parquet") as studio:
        page = Page(chromium, studio)
        page.press("n")
        page.shows(".roles")
        page.settled()
        for role in ("1", "2", "2", "3", "3"):  # name, age, height, illness, cost
            page.press("ArrowDown") if role == "1" else None
            page.press(role, "ArrowDown")
        page.settled()
        assert page.page.text_content("#unread") == "All roles are confirmed."
        page.press("n")
        page.shows("#attacks .verdict")
        page.focus("#t")
        page.page.keyboard.type("0.5")
        page.page.wait_for_timeout(300)
        page.settled()
        checked(page)
        assert left(tmp_path) == set()
        signed(page)
        assert left(tmp_path) == WRITTEN
        assert digest(tmp_path / "people.released.parquet") in page.page.text_content("#written")
        assert 'purpose = "A study"' in (tmp_path / "people.recipe.toml").read_text()
        page.close()


def test_adult_from_start_to_signed_files_with_the_keyboard_alone(chromium, shared_data, tmp_path):
    shutil.copy(shared_data / "adult.parquet", tmp_path)
    with running(tmp_path, "adult.parquet") as studio:
        page = Page(chromium, studio)
        page.press("n")
        page.shows(".roles")
        columns = page.page.eval_on_selector_all(
            ".roles tbody tr", "rows => rows.map(row => row.dataset.column)"
        )
        page.press("ArrowDown")
        for name in columns:
            page.press(ADULT.get(name, "5"), "ArrowDown")
        page.settled()
        assert page.page.text_content("#unread") == "All roles are confirmed."
        page.press("n")
        page.shows("#attacks .verdict")
        page.focus("#k")
        page.press("Control+a")
        page.page.keyboard.type("10")
        page.focus("#t")
        page.page.keyboard.type("0.2")
        page.previews("#preview [data-k='10'] .tiles", 10)
        page.settled()
        checked(page)
        signed(page)
        page.close()
    written = {name.replace("people", "adult") for name in WRITTEN}
    assert {path.name for path in tmp_path.iterdir()} == {"adult.parquet", *written}


def test_screens_fit_and_can_be_read_and_each_control_has_a_name(chromium, tmp_path):
    with running(people(tmp_path), "people.parquet") as studio:
        page = Page(chromium, studio)
        for name in ("table", "roles", "protect", "check", "sign"):
            page.page.goto(f"http://{studio.host}/{name}")
            page.settled()
            if name == "check":
                page.press("r")
                page.shows("[aria-label=Audit]")
                page.settled()
            assert page.page.locator("h1").count() == 1, name
            for details in page.page.locator("main details > summary").all():
                details.click()
            assert page.page.evaluate(NAMELESS) == [], name
            for scheme in ("light", "dark"):
                page.page.emulate_media(color_scheme=scheme)
                assert page.page.evaluate(PALE) == [], (name, scheme)
            for width, height in SIZES.values():
                page.page.set_viewport_size({"width": width, "height": height})
                assert page.page.evaluate("document.documentElement.scrollWidth") <= width, name
        page.close()


def test_a_choice_that_cannot_be_released_is_said_and_its_control_focused(chromium, tmp_path):
    with running(people(tmp_path), "people.parquet") as studio:
        page = Page(chromium, studio)
        page.page.goto(f"http://{studio.host}/protect")
        page.shows("#preview .tiles")
        page.settled()
        page.page.fill("#k", "5000")
        page.page.focus("#method")
        page.previews("#preview .failed:has-text('k must be at most')", 5000)
        page.page.wait_for_function("() => document.activeElement.id === 'k'")
        page.close()


def test_a_refused_choice_is_said_and_the_screen_shows_what_still_holds(chromium, tmp_path):
    with running(people(tmp_path), "people.parquet", ANON_KEY="a secret of the owner") as studio:
        page = Page(chromium, studio)
        page.page.goto(f"http://{studio.host}/protect")
        page.shows("#preview .tiles")
        page.page.select_option("#transparent", "groups")
        page.settled()
        page.page.select_option("#method", "datafly")
        page.shows("#said:has-text('makes groups of rows, got datafly')")
        page.page.wait_for_function("() => document.querySelector('#method').value === 'anonymize'")
        assert page.page.input_value("#transparent") == "groups"
        assert "422" in page.said.pop()  # browsers log such an answer, and its address
        assert page.said.pop().endswith("/choice")
        page.close()


def test_rows_before_and_after_follow_each_choice_once_they_were_asked_for(chromium, tmp_path):
    with running(people(tmp_path), "people.parquet") as studio:
        page = Page(chromium, studio)
        page.page.goto(f"http://{studio.host}/protect")
        page.shows("#preview .tiles")
        page.settled()
        assert "v1" not in page.page.content()
        page.page.click("#pairs [data-stays]")
        page.shows("#pairs .released-row")
        page.settled()
        assert page.page.locator("#pairs .raw-row").count() == 8
        before = page.page.text_content("#pairs tbody")
        page.page.fill("#k", "40")
        page.shows("#preview [data-k='40'] :is(.tiles, [data-follow])")
        if page.page.locator("#preview [data-follow]").count():  # the last one took long
            page.page.click("#preview [data-follow]")
        page.shows("#preview [data-k='40'] .tiles")
        page.settled()
        assert page.page.locator("#pairs .released-row").count() == 8
        assert page.page.text_content("#pairs tbody") != before
        page.close()


def test_k_moved_ten_times_in_a_second_shows_the_last(chromium, tmp_path):
    with running(people(tmp_path), "people.parquet") as studio:
        page = Page(chromium, studio)
        page.page.goto(f"http://{studio.host}/protect")
        page.shows("#preview .tiles")
        page.settled()
        page.page.focus("#k-slider")
        for _ in range(10):
            page.press("ArrowRight")
            page.page.wait_for_timeout(90)
        page.previews("#preview [data-k='15'] .tiles", 15)
        page.settled()
        choice = page.page.get_attribute("body", "data-choice")
        for part in ("#preview", "#attacks"):
            assert page.page.get_attribute(f"{part} [data-choice]", "data-choice") == choice
        page.close()


def test_a_verdict_says_without_a_click_what_was_tried(chromium, tmp_path):
    with running(people(tmp_path), "people.parquet") as studio:
        page = Page(chromium, studio)
        page.page.goto(f"http://{studio.host}/protect")
        page.settled()
        page.page.fill("#k", "200")
        page.previews("#preview [data-k='200'] .tiles", 200)
        page.page.wait_for_selector("#attacks :text('tried on 1,000 rows')", timeout=120_000)
        assert "Trying what lifts" not in page.page.text_content("#attacks")
        page.settled()
        page.close()


def test_the_recommended_k_is_chosen_by_a_click(chromium, tmp_path):
    with running(people(tmp_path), "people.parquet") as studio:
        page = Page(chromium, studio)
        page.page.goto(f"http://{studio.host}/protect")
        page.shows("#preview .tiles")
        page.page.fill("#k", "7")
        page.page.click("button:has-text('Recommend k')")
        page.shows("[data-set=k]")
        page.settled()
        recommended = page.page.text_content(".big")
        page.page.click("[data-set=k]")
        page.previews(f"#preview [data-k='{recommended}'] .tiles", recommended)
        page.settled()
        assert page.page.input_value("#k") == page.page.input_value("#k-slider") == recommended
        assert page.page.text_content(".big") == recommended
        assert page.page.locator("[data-set=k]").count() == 0
        page.close()


def test_raw_rows_are_shown_after_a_confirmation_and_forgotten(chromium, tmp_path):
    with running(people(tmp_path), "people.parquet") as studio:
        page = Page(chromium, studio)
        page.page.click("[data-open=raw]")
        assert "v1" not in page.page.content()
        page.page.click("#raw [data-run]")
        page.shows("#raw-rows td:has-text('v1')")
        page.press("Escape")
        page.page.wait_for_function("() => !document.querySelector('#raw-rows td')")
        page.close()


def test_a_stop_is_one_message(chromium, tmp_path):
    many = (
        "SELECT i * 7919 % 9973 AS a, i * 104729 % 997 AS b, i * 31 % 101 AS c, i * 17 % 89 AS d, "
        "'v' || i % 7 AS illness FROM range(100000) AS made(i)"
    )
    duckdb.connect().execute(f"COPY ({many}) TO '{tmp_path / 'people.parquet'}'")
    with running(tmp_path, "people.parquet") as studio:
        page = Page(chromium, studio)
        page.page.goto(f"http://{studio.host}/check")
        page.shows("[data-key=r]")
        studio_key = page.page.get_attribute("meta[name=studio-key]", "content")
        choose = """([name, value, columns, key]) => fetch('/choice', {method: 'POST',
            headers: {'X-Studio-Key': key}, body: JSON.stringify({name, value, columns})})"""
        page.page.evaluate(choose, ["role", "quasi", ["a", "b", "c", "d"], studio_key])
        page.press("r")
        page.page.wait_for_function(
            "() => /^check: .+ \\d+%, \\d+ s$/.test(document.querySelector('#doing').textContent)",
            timeout=60_000,
        )
        page.page.click("#stop", timeout=60_000)
        page.shows(".failed:has-text('Stopped. Nothing was released.')", 10)
        page.page.wait_for_selector("#running", state="hidden")
        assert json.loads(page.page.evaluate(
            "(key) => fetch('/data/progress', {headers: {'X-Studio-Key': key}}).then(a => a.text())",
            studio_key,
        )) == {}  # fmt: skip
        page.close()


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        (f"{PEOPLE} LIMIT 0", "The table has no rows"),
        ("SELECT i AS age FROM range(100) AS made(i)", "The table has one column"),
        (
            "SELECT " + ", ".join(f"i % {n + 2} AS column_of_a_rather_long_name_{n}" for n in range(300))
            + " FROM range(400) AS made(i)",
            "300",
        ),
    ],
    ids=["no rows", "one column", "300 columns"],
)  # fmt: skip
def test_tables_of_odd_shapes(chromium, tmp_path, sql, said):
    duckdb.connect().execute(f"COPY ({sql}) TO '{tmp_path / 'people.parquet'}'")
    with running(tmp_path, "people.parquet") as studio:
        page = Page(chromium, studio, "small")
        assert said in page.page.text_content("main")
        for name in ("roles", "sign") if said == "300" else ("roles", "protect", "check", "sign"):
            page.page.goto(f"http://{studio.host}/{name}")
            page.settled()
            assert page.page.evaluate("document.documentElement.scrollWidth") <= 1024, name
            assert page.page.locator("[role=alert]").count() == 0, name
            if said != "300":
                assert said in page.page.text_content("main"), name
                assert page.page.locator("main :is(button, input, select)").count() == 0, name
        page.close()


def test_the_token_works_from_a_file_as_browsers_open_it(chromium, tmp_path):
    from anon_sql.apps.cli import studio as command

    with running(people(tmp_path), "people.parquet") as studio:
        folder = tmp_path / "opened"
        folder.mkdir()
        command.webbrowser, before = (
            type("None", (), {"open": lambda url: True}),
            command.webbrowser,
        )
        try:
            command._open(studio.address, folder)
        finally:
            command.webbrowser = before
        context = chromium.new_context()
        page = context.new_page()
        page.goto((folder / "open.html").as_uri())
        page.wait_for_selector("[data-source]", timeout=60_000)
        assert "token" not in page.url
        context.close()


def test_stop_studio_ends_it(chromium, tmp_path):
    with running(people(tmp_path), "people.parquet") as studio:
        page = Page(chromium, studio)
        page.page.click("#quit")
        page.shows("h1:has-text('The studio has ended')")
        assert studio.process.wait(20) == 0
        page.close()
