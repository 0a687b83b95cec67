"""Build the site of the documentation into the folder ``site``: ``./generate site``.

The pages in docs are copied to build/site, with a page per SQL function from its header. Zensical
makes HTML of them; it warns of a link that leads nowhere, and a warning ends the build. Beside each
page lies its Markdown, and ``llms.txt`` lists the pages. ``problems`` reads the HTML again: each
link must lead to a file and an anchor, and no page may load anything from another host.

Compared with mkdocs-material, Zensical lacks the plugin that copies files from other hosts, and its
offline search loads a script from unpkg.com. The site uses neither: its fonts are those of the
system, and its search needs a web server.
"""

import json
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urldefrag

import anon_sql
from anon_sql import datasets
from anon_sql.hosts.duckdb.sql_files import Entry

LINK = re.compile(r"(!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\()([^)\s]+)\)")
FENCED = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
REFERENCE = "look-up/reference.md"
FUNCTIONS = "look-up/functions"
GALLERY = "gallery.md"
RENAMED = {"start.md": "index.md", "index.md": "pages.md", "papers/README.md": "papers/index.md"}
_CONFIG = """\
[project]
site_name = "anon_sql"
site_description = {description}
docs_dir = "pages"
site_dir = "html"
use_directory_urls = false
extra_css = ["site.css"]
nav = {nav}

[project.theme]
font = false
features = [
  "content.code.copy", "navigation.footer", "navigation.sections", "navigation.tabs",
  "navigation.top", "search.highlight", "toc.follow",
]

[[project.theme.palette]]
media = "(prefers-color-scheme)"
toggle.icon = "lucide/sun-moon"
toggle.name = "Switch to light mode"

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
toggle.icon = "lucide/sun"
toggle.name = "Switch to dark mode"

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
toggle.icon = "lucide/moon"
toggle.name = "Switch to the mode of the system"

[project.extra]
generator = false

[project.markdown_extensions]
attr_list = {{}}
md_in_html = {{}}
tables = {{}}
pymdownx.highlight.pygments_lang_class = true
pymdownx.superfences = {{}}

[project.markdown_extensions.toc]
permalink = true

[project.markdown_extensions.toc.slugify]
object = "pymdownx.slugs.slugify"
kwds = {{ case = "lower" }}
"""


class Section(NamedTuple):
    """A heading of docs/index.md with the links below it: pairs of a title and a page."""

    title: str
    pages: list[tuple[str, str]]


def sections(index: str) -> list[Section]:
    """Return the headings of docs/index.md that list pages."""
    listed: list[Section] = []
    for line in index.splitlines():
        link = re.match(r"- .*?\[(.+?)\]\(([^)]+\.md)\)", line)
        if line.startswith("## "):
            listed.append(Section(line.removeprefix("## "), []))
        elif link and listed:
            listed[-1].pages.append((link[1], link[2]))
    return [section for section in listed if section.pages]


def sources(docs: Path, functions: Sequence[Entry]) -> dict[str, str]:
    """Return the Markdown of every page of the site by its path."""
    names = {entry.name for entry in functions}
    made = {}
    for path in sorted(docs.rglob("*.md")):
        page, text = path.relative_to(docs).as_posix(), path.read_text(encoding="utf-8")
        if page == REFERENCE:
            text = re.sub(r"^## (?!Common parameters).*?(?=^## |\Z)", "", text, flags=re.M | re.S)
        made[RENAMED.get(page, page)] = with_links(text, page, names)
    for entry in functions:
        page = f"{FUNCTIONS}/{entry.name}.md"
        made[page] = with_links(function_page(entry), page, names)
    return made


def with_links(text: str, page: str, functions: set[str]) -> str:
    """Return the text of a page in docs with its links as the site needs them.

    page: path of the page in docs; functions: names of the public SQL functions. A link to a file
    outside of docs becomes its text, because the site does not have the file.
    """
    here = posixpath.dirname(page)
    there = posixpath.dirname(RENAMED.get(page, page))

    def led(link: re.Match[str]) -> str:
        target, anchor = urldefrag(link[3])
        path = posixpath.normpath(posixpath.join(here, target)) if target else page
        if re.match(r"[a-z]+:", link[3]):
            return link[0]
        if path.startswith(".."):
            return link[2]
        if path == REFERENCE and anchor in functions:
            path, anchor = f"{FUNCTIONS}/{anchor}.md", ""
        elif not target:
            return link[0]
        to = posixpath.relpath(RENAMED.get(path, path), there or ".")
        return f"{link[1]}{to}{'#' if anchor else ''}{anchor})"

    parts, end = [], 0
    for block in FENCED.finditer(text):
        parts += [LINK.sub(led, text[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, LINK.sub(led, text[end:])])


def function_page(entry: Entry) -> str:
    """Return the page of a SQL function: all that its header holds."""
    listed = [f"- {', '.join(f'`{n}`' for n in names)}: {text}" for names, text in entry.arguments]
    parts = [
        f"# {entry.name}",
        entry.description,
        f"```sql\n{entry.call}\n```",
        "## Parameters" if listed or entry.note else "",
        entry.note,
        "\n".join(listed),
        f"## Result\n\n{entry.returns}",
        f"## Errors\n\n{entry.errors}",
        f"## Example\n\n```sql\n{entry.example}\n```",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def config(index: str, functions: Sequence[Entry], description: str, *, drawn: bool = True) -> str:
    """Return the settings of Zensical, with the pages in the order of docs/index.md.

    drawn: whether there is a gallery.
    """
    first: list[object] = ["index.md", {"All pages": "pages.md"}]
    listed: list[object] = [{"Start": [*first, *([{"Gallery": GALLERY}] if drawn else [])]}]
    for section in sections(index):
        pages = _grouped(section.pages)
        if any(page == REFERENCE for _, page in section.pages):
            topics: dict[str, list[object]] = {}
            for entry in functions:
                topics.setdefault(entry.topic, []).append(f"{FUNCTIONS}/{entry.name}.md")
            pages.append({"SQL functions": [{topic: names} for topic, names in topics.items()]})
        listed.append({section.title: pages})
    return _CONFIG.format(description=json.dumps(description), nav=_toml(listed))


def _grouped(pages: Sequence[tuple[str, str]]) -> list[object]:
    """Return the pages of a section; one called "A: b" stands below the page A."""
    groups: dict[str, list[object]] = {}
    for title, page in pages:
        group, _, rest = title.partition(": ")
        name, below = (group, rest) if group in groups else (title, title)
        groups.setdefault(name, []).append({below: RENAMED.get(page, page)})
    return [each[0] if len(each) == 1 else {name: each} for name, each in groups.items()]


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_toml(k)} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def llms(pages: dict[str, str], index: str, functions: Sequence[Entry], description: str) -> str:
    """Return llms.txt: every page with its first sentences, in the order of docs/index.md."""
    lines = ["# anon_sql", "", f"> {description}", ""]
    for section in sections(index):
        lines += [f"## {section.title}", ""]
        for title, listed in section.pages:
            page = RENAMED.get(listed, listed)
            lines.append(f"- [{title}]({page}): {_lead(pages[page])}")
        lines.append("")
    lines += ["## SQL functions", ""]
    lines += [f"- [{e.name}]({FUNCTIONS}/{e.name}.md): {e.summary}" for e in functions]
    return "\n".join(lines) + "\n"


def _lead(text: str) -> str:
    """Return the first paragraph of a page without its links."""
    paragraphs = [
        p for p in re.split(r"\n\s*\n", text.strip()) if not p.startswith(("#", "<", "---"))
    ]
    return LINK.sub(r"\2", " ".join(paragraphs[0].split())) if paragraphs else ""


def build(root: Path, functions: Sequence[Entry], *, drawn: bool = True) -> int:
    """Build the site of a checkout; return the number of problems, which are printed.

    drawn: whether to draw the pictures of the gallery.
    """
    if any(find_spec(name) is None for name in ("matplotlib", "zensical")):
        sys.stderr.write("site: Zensical is not installed; run pip install '.[site]'\n")
        return 1
    docs, work, site = root / "docs", root / "build" / "site", root / "site"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(docs, work / "pages", ignore=shutil.ignore_patterns("*.md"))
    index = (docs / "index.md").read_text(encoding="utf-8")
    pages = sources(docs, functions)
    if drawn:
        from anon_sql.apps import gallery

        pages[GALLERY] = gallery.page()
        _draw(work / "pages" / "gallery")
    pages["index.md"] = "---\nhide: [navigation, toc]\n---\n" + pages["index.md"]
    description = _lead(pages["index.md"])
    for page, text in pages.items():
        path = work / "pages" / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    settings = work / "zensical.toml"
    settings.write_text(config(index, functions, description, drawn=drawn), encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    if subprocess.run([*command, "-f", settings], check=False, cwd=work).returncode:
        return 1
    shutil.rmtree(site, ignore_errors=True)
    (work / "html").rename(site)
    for page, text in pages.items():
        (site / page).write_text(text, encoding="utf-8")
        html = (site / page).with_suffix(".html")
        link = f'<link rel="alternate" type="text/markdown" href="{Path(page).name}">'
        html.write_text(html.read_text("utf-8").replace("</head>", f"{link}</head>", 1), "utf-8")
    (site / "llms.txt").write_text(llms(pages, index, functions, description), encoding="utf-8")
    wrong = list(problems(site))
    sys.stderr.writelines(f"{problem}\n" for problem in wrong)
    return len(wrong)


def _draw(folder: Path) -> None:
    """Draw the pictures of the gallery from real calls."""
    from anon_sql.apps import gallery

    folder.mkdir()
    with anon_sql.connect() as con:
        datasets.adult(con, gallery.ROWS)
        for name, picture in gallery.pictures(con).items():
            (folder / f"{name}.svg").write_text(picture, encoding="utf-8")


class _Page(HTMLParser):
    """The anchors, links and loaded files of an HTML page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value for name, value in attrs if value}
        self.anchors |= {named[name] for name in ("id", "name") if name in named}
        if "href" in named:
            linked = tag == "a" or named.get("rel") == "canonical"
            (self.links if linked else self.loaded).append(named["href"])
        if "src" in named:
            self.loaded.append(named["src"])


def problems(site: Path) -> Iterator[str]:
    """Give a line for each link of a built site that leads nowhere or loads from another host."""
    pages = {path: _Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        if path.name == "404.html":  # its links begin at the root of the server
            continue
        name = path.relative_to(site).as_posix()
        for link in page.loaded:
            if re.match(r"(https?:)?//", link):
                yield f"{name}: loads {link} from another host"
        for link in (*page.links, *page.loaded):
            target, anchor = urldefrag(link)
            if re.match(r"[a-z]+:|//", link):
                continue
            there = (path.parent / unquote(target)).resolve() if target else path
            if not there.exists():
                yield f"{name}: {link} leads nowhere"
            elif anchor and there in pages and unquote(anchor) not in pages[there].anchors:
                yield f"{name}: {link} has no such anchor"
    for path in sorted(site.rglob("*.css")):
        for link in re.findall(r"url\([\"']?((?:https?:)?//[^)\"']+)", path.read_text("utf-8")):
            yield f"{path.name}: loads {link} from another host"
