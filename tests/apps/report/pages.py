"""The table of the tests of a report, and what they read of a page."""

import re
from base64 import b64decode
from html import unescape

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
