"""The table of the tests of a report, and what they read of a page."""

import re
import shutil
import subprocess
from base64 import b64decode
from html import unescape

import pytest

PEOPLE = (
    "SELECT 'secret' || i AS name, 20 + i % 45 AS age, '<i>$' || i % 3 AS \"se<b>x\", "
    "'illness' || i % 4 AS illness, DATE '2000-01-01' + (i * 31 % 900)::INTEGER AS born "
    "FROM range(120) AS r(i)"
)
ROLES = ["--quasi", "age,se<b>x,born", "--sensitive", "illness", "--identifier", "name"]
STATED = [
    *("--purpose", "A <test>", "--recipient", "Nobody"),
    *("--assumption", "None is known", "--assumption", "No list of the persons"),
]


def page(folder, name="report.html"):
    return (folder / name).read_text(encoding="utf-8")


def drawn(text):
    """The charts, each as SVG."""
    return [
        b64decode(found).decode()
        for found in re.findall(r"data:image/svg\+xml;base64,(\S+?)\"", text)
    ]


def first_screen(text):
    """The text above the checks, without tags."""
    body = text[text.index("<body>") : text.index("<h2>Checks</h2>")]
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())


def printed_pages(source, folder):
    """The number of pages that Chromium prints of a file; each is A4."""
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("no Chromium")
    pdf = folder / f"{source.stem}.pdf"
    subprocess.run(
        [browser, "--headless", "--no-sandbox", f"--user-data-dir={folder / 'profile'}",
         "--no-pdf-header-footer", f"--print-to-pdf={pdf}", source.as_uri()],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    content = pdf.read_bytes()
    sizes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", content)
    assert {(round(float(x)), round(float(y))) for x, y in sizes} <= {(595, 842), (594, 842)}
    return len(re.findall(rb"/Type /Page\b", content))
