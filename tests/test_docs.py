"""The pages of docs as a whole: their links, their length, their list, and the site made of them."""

import posixpath
import re
import runpy
import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urldefrag

import pytest

from anon_sql.apps import site
from anon_sql.apps.cli import help as topics
from anon_sql.apps.verdict.rules import VERDICT
from anon_sql.hosts.duckdb import sql_files
from anon_sql.hosts.recipes import ACCEPTABLE

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md")), *sorted(DOCS.rglob("*.md"))]
HTML = """<html><head><link rel="stylesheet" href="site.css">{head}</head>
<body><h2 id="one">One</h2>{body}</body></html>"""


def anchors(text):
    """Return the anchors of the headings of a page, as GitHub makes them."""
    made = []
    for heading in re.findall(r"^#+ (.+)$", site.FENCED.sub("", text), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        made.append(f"{anchor}-{made.count(anchor)}" if anchor in made else anchor)
    return set(made)


def broken(page, text):
    """Return the links of a page in the checkout that lead to no file, or to no heading."""
    found = []
    for link in site.LINK.finditer(site.FENCED.sub("", text)):
        target, anchor = urldefrag(link[3])
        there = page.parent / target
        if re.match(r"[a-z]+:", link[3]):
            continue
        if target and not there.exists():
            found.append(link[3])
        elif anchor and not target.endswith((".py", ".sql")):
            headings = anchors(there.read_text("utf-8") if target else text)
            found += [link[3]] if anchor not in headings else []
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_a_file_and_a_heading(page):
    assert broken(page, page.read_text("utf-8")) == []


def test_a_link_that_leads_nowhere_is_seen():
    text = "# A `b` c\n\n[1](#a-b-c) [2](#a-b) [3](start.md) [4](no.md) [5](index.md#learn)"
    text += " [6](index.md#nothing) ![7](classes.svg) [8](https://example.org/no)\n\n```\n[9](no)\n```\n"
    assert broken(DOCS / "roles.md", text) == ["#a-b", "no.md", "index.md#nothing"]
    assert anchors(text) == {"a-b-c"}


def test_pages_are_short():
    """But the reference and the papers, which programs write."""
    for page in PAGES[2:]:
        if page.name != "reference.md" and page.parent.name != "papers":
            assert len(page.read_text("utf-8").splitlines()) <= 300, page


def test_one_page_has_a_row_for_each_rule_of_the_verdict():
    page = (DOCS / "look-up" / "verdict-rules.md").read_text("utf-8")
    rows = re.findall(r"^\| (\w+) \|", page.partition("## Tables that belong")[0], re.MULTILINE)
    ruled = {limit.rule for limit in VERDICT.values()}
    assert ruled | set(ACCEPTABLE) == set(rows) - {"rule"}
    assert len(set(rows)) == len(rows)


def test_the_picture_of_other_packages_marks_what_was_ended():
    peers = runpy.run_path(str(ROOT / "benchmarks" / "peers.py"))
    page = (DOCS / "measurements" / "other-packages.md").read_text("utf-8")
    shown = (DOCS / "measurements" / "other-packages.svg").read_text("utf-8")
    assert shown == peers["picture"](peers["recorded"](page))
    ended = len(re.findall(r"\| ended after \d+ s \|", page))
    assert ended > 4
    assert shown.count("l10 10m0 -10l-10 10") == ended + 1  # and the legend


def test_the_picture_of_wide_tables_has_a_point_for_each_row_of_its_table():
    drawing = runpy.run_path(str(ROOT / "benchmarks" / "wide_picture.py"))
    page = (DOCS / "measurements" / "large-releases.md").read_text("utf-8")
    shown = (DOCS / "measurements" / "wide-tables.svg").read_text("utf-8")
    assert shown == drawing["picture"](drawing["recorded"](page))
    table = page.partition("| columns | command |")[2].partition("\n\n")[0]
    assert shown.count("<circle") == 2 * (len(table.splitlines()) - 2) > 30


def listed():
    """Return the pages that docs/index.md lists, by their section."""
    index = (DOCS / "index.md").read_text("utf-8")
    return {section.title: [page for _, page in section.pages] for section in site.sections(index)}


def test_the_index_lists_every_page_once():
    pages = [page for section in listed().values() for page in section]
    every = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert sorted(pages) == sorted(every - {"index.md", "start.md"})


def test_the_terminal_finds_every_page_by_a_name_of_its_own():
    found = {page.relative_to(DOCS).as_posix() for page in topics.pages().values()}
    folders = tuple(f"{folder}/" for folder in topics.FOLDERS)
    every = [page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")]
    assert found == {page for page in every if page.startswith(folders)}


def test_the_site_has_a_page_per_function_and_links_to_it():
    functions = sql_files.entries()
    pages = site.sources(DOCS, functions)
    for entry in functions:
        assert f"functions/{entry.name}.md" in pages["look-up/reference.md"]
        for names, text in entry.arguments:
            line = f"- {', '.join(f'`{name}`' for name in names)}: {text}"
            assert line in pages[f"look-up/functions/{entry.name}.md"]
    assert "### rayden" not in pages["look-up/reference.md"]
    assert "](pages.md)" in pages["index.md"]
    for page, text in pages.items():
        for link in site.LINK.finditer(site.FENCED.sub("", text)):
            target = urldefrag(link[3])[0]
            if target.endswith(".md") and ":" not in target:
                assert posixpath.normpath(posixpath.join(posixpath.dirname(page), target)) in pages


def test_links_of_a_page_follow_its_name_and_those_out_of_docs_become_text():
    text = "[a](reference.md#rayden), [b](../index.md#learn), [c](../../sql/x.sql) [d](#e)\n"
    made = site.with_links(
        f"{text}```\n[a](reference.md#rayden)\n```\n", "look-up/roles.md", {"rayden"}
    )
    assert made == (
        "[a](functions/rayden.md), [b](../pages.md#learn), c [d](#e)\n"
        "```\n[a](reference.md#rayden)\n```\n"
    )


def test_the_settings_have_the_pages_in_the_order_of_the_index():
    index = "# A\n\n## B\n\n- [C](do/c.md)\n- For you: [D](do/d.md)\n- [C: e](do/e.md)\n\n## F\n\nText\n"
    (nav,) = [
        line
        for line in site.config(index, [], "x", drawn=False).splitlines()
        if line.startswith("nav")
    ]
    assert nav == (
        'nav = [{ "Start" = ["index.md", { "All pages" = "pages.md" }] }, '
        '{ "B" = [{ "C" = [{ "C" = "do/c.md" }, { "e" = "do/e.md" }] }, { "D" = "do/d.md" }] }]'
    )


def test_llms_txt_lists_every_page_of_the_site():
    functions = sql_files.entries()
    pages = site.sources(DOCS, functions)
    text = site.llms(pages, (DOCS / "index.md").read_text("utf-8"), functions, "Tables.")
    assert text.startswith("# anon_sql\n\n> Tables.\n\n## Learn\n\n- [")
    linked = set(re.findall(r"\]\(([^)]+)\): \S", text))
    assert linked == set(pages) - {"index.md", "pages.md"}


def test_a_built_page_may_not_load_from_another_host_or_link_nowhere(tmp_path):
    (tmp_path / "site.css").write_text("a { background: url(//fonts.example/a.woff) }", "utf-8")
    head = '<script src="https://cdn.example/a.js"></script>'
    body = (
        '<a href="#one">1</a><a href="#two">2</a><a href="b.html">3</a><a href="https://a.b">4</a>'
    )
    (tmp_path / "a.html").write_text(HTML.format(head=head, body=body), "utf-8")
    assert list(site.problems(tmp_path)) == [
        "a.html: loads https://cdn.example/a.js from another host",
        "a.html: #two has no such anchor",
        "a.html: b.html leads nowhere",
        "site.css: loads //fonts.example/a.woff from another host",
    ]


class Silent(SimpleHTTPRequestHandler):
    """A server of files that logs nothing."""

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of the built site."""
    pytest.importorskip("zensical", reason="needs pip install '.[site]'")
    folder = tmp_path_factory.mktemp("site")
    (folder / "docs").symlink_to(DOCS)
    assert site.build(folder, sql_files.entries()) == 0
    return folder / "site"


@pytest.mark.slow
def test_a_site_with_a_link_that_leads_nowhere_is_not_built(tmp_path):
    pytest.importorskip("zensical", reason="needs pip install '.[site]'")
    (tmp_path / "docs").mkdir()
    for name, text in {"start": "# A\n\n[b](learn/no.md)\n", "index": "# B\n"}.items():
        (tmp_path / "docs" / f"{name}.md").write_text(text, "utf-8")
    (tmp_path / "docs" / "site.css").touch()
    assert site.build(tmp_path, [], drawn=False) == 1
    assert not (tmp_path / "site").exists()


@pytest.mark.slow
def test_the_site_is_built_with_markdown_beside_each_page(built):
    gallery = pytest.importorskip("anon_sql.apps.gallery")
    for page in site.sources(DOCS, sql_files.entries()):
        assert (built / page).is_file()
        assert f'href="{Path(page).name}"' in (built / page).with_suffix(".html").read_text("utf-8")
    assert (built / "llms.txt").is_file()
    for picture in gallery.PICTURES:
        drawn = (built / "gallery" / f"{picture.name}.svg").read_text("utf-8")
        assert picture.title in drawn
        assert picture.across in drawn
        assert picture.up in drawn


@pytest.mark.slow
def test_a_browser_searches_the_site_and_asks_no_other_host(built):
    api = pytest.importorskip("playwright.sync_api")
    handler = partial(Silent, directory=built)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, api.sync_playwright() as play:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        home = f"http://127.0.0.1:{server.server_port}/"
        try:
            browser = play.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
        except api.Error as error:
            pytest.skip(f"no Chromium: {error.message.splitlines()[0]}")
        asked, wrong = [], []
        for width in (1280, 390):
            page = browser.new_page(viewport={"width": width, "height": 840})
            page.on("request", lambda request: asked.append(request.url))
            page.on("pageerror", lambda error: wrong.append(str(error)))
            for name in ("index", "look-up/functions/rayden", "do/audit-a-release"):
                page.goto(f"{home}{name}.html")
                assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.set_viewport_size({"width": 1280, "height": 840})
        page.keyboard.press("Control+k")
        page.keyboard.type("vantage point")
        page.get_by_text(re.compile(r"[1-9]\d* results")).first.wait_for()
        browser.close()
        server.shutdown()
    assert wrong == []
    assert [url for url in asked if not url.startswith((home, "data:", "blob:"))] == []
