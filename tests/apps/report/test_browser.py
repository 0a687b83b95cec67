"""Pages in headless Chromium: nothing on the console, nothing asked for, nothing too wide."""

import shutil

import duckdb
import pytest

from tests.command import run

pytestmark = pytest.mark.slow

PEOPLE = (
    "SELECT i AS id, 20 + i % 45 AS age, 'a town of a long name ' || i % 9 AS town, "
    "'illness' || i % 4 AS illness FROM range(300) AS r(i)"
)
ROLES = ["--quasi", "age,town", "--sensitive", "illness", "--identifier", "id"]
SIZES = {"desk": (1280, 800), "phone": (360, 740)}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The addresses of a report and of a sweep."""
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("pages")
    raw, safe = folder / "people.parquet", folder / "safe.parquet"
    duckdb.connect().execute(f"COPY ({PEOPLE}) TO '{raw}'")
    for arguments in (
        ("release", raw, safe, *ROLES, "--manifest"),
        ("report", raw, safe, "-o", folder / "report.html", "--show-sensitive"),
        ("sweep", raw, *ROLES, "--ks", "5,20", "-o", folder / "sweep.html"),
    ):
        result = run(*arguments)
        assert result.exit_code == 0, result.output
    return {name: (folder / f"{name}.html").as_uri() for name in ("report", "sweep")}


@pytest.fixture(scope="module")
def chromium():
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
        except api.Error as error:
            pytest.skip(f"no Chromium: {error.message.splitlines()[0]}")
        yield browser
        browser.close()


@pytest.mark.parametrize("name", ["report", "sweep"])
@pytest.mark.parametrize("size", SIZES)
def test_a_page(chromium, pages, name, size):
    width, height = SIZES[size]
    page = chromium.new_page(viewport={"width": width, "height": height})
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(pages[name])
    assert said == []
    assert [url for url in asked if not url.startswith("data:")] == [pages[name]]
    assert page.evaluate("document.documentElement.scrollWidth") == width
    charts = page.locator("img")
    assert charts.count() >= 3
    drawn = "images => images.every(i => i.naturalWidth > 0 && i.alt && i.width <= innerWidth)"
    assert charts.evaluate_all(drawn)
    assert page.evaluate("document.title").endswith(".parquet")
    page.close()


@pytest.mark.parametrize("name", ["report", "sweep"])
def test_it_prints(chromium, pages, name):
    page = chromium.new_page()
    page.goto(pages[name])
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 718, "height": 1000})  # A4 less its margins
    assert page.evaluate("document.documentElement.scrollWidth") == 718
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.close()
