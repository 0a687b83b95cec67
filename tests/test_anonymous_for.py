"""No text calls data anonymous without saying for whom."""

import ast
import re
from pathlib import Path

import pytest

from tests.test_plain_english import prose

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parents[1]
# The word alone: not k-anonymous, k_anonymous, anonymize or the key anonymous_for
ANONYMOUS = re.compile(r"(?<![\w-])anonymous(?!\w)", re.IGNORECASE)
FOR = re.compile(r"\bfor\b", re.IGNORECASE)
END = re.compile(
    r"(?<=[.!?])[\"')*]* +|\n\s*\n| \| |<[^>]*>"
)  # of a sentence, a cell or an element
ALLOWED = ("send_anonymous_usage_stats",)  # a setting of dbt
PAGES = sorted(
    [
        ROOT / "README.md",
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("examples/**/*.md"),
    ]
)
MODULES = sorted(ROOT.glob("anon_sql/**/*.py"))
OTHERS = sorted(
    [
        *ROOT.glob("sql/**/*.sql"),
        *ROOT.glob("anon_sql/**/*.html"),
        *ROOT.glob("anon_sql/**/*.sql"),
        *ROOT.glob("anon_sql/**/*.js"),
    ]
)


def without_for(text):
    """Return the sentences that have the word, and no 'for'."""
    sentences = [sentence for sentence in END.split(text) if sentence]
    return [
        sentence.strip()
        for sentence in sentences
        if ANONYMOUS.search(sentence)
        and not FOR.search(sentence)
        and not any(part in sentence for part in ALLOWED)
    ]


def texts_of(source):
    """Return the texts of a module: messages and docstrings, parts that are joined together."""
    tree = ast.parse(source)
    pieces = {
        id(piece)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for piece in node.values
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(piece.value) if isinstance(piece, ast.Constant) else "x"
                for piece in node.values
            )
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in pieces
        ):
            yield node.value


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages(page):
    text = page.read_text("utf-8")
    assert without_for(prose(text)) == []
    comments = re.findall(r"^ *(?:--|#|//) (.*)", text, re.MULTILINE)  # in blocks of code
    assert [found for line in comments for found in without_for(line)] == []


def test_messages_and_docstrings():
    found = {
        path.relative_to(ROOT).as_posix(): sentences
        for path in MODULES
        if (
            sentences := [
                s
                for text in texts_of(path.read_text("utf-8"))
                for s in without_for(" ".join(text.split()))
            ]
        )
    }
    assert len(MODULES) > 300
    assert found == {}


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_headers_and_templates(path):
    text = re.sub(r"\n-- *", " ", path.read_text("utf-8"))
    assert without_for(text) == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("The release is anonymous.", 1),
        ("The release is anonymous for the team of the study.", 0),
        ("For whom is it anonymous?", 0),
        ("It is anonymous. That is for you.", 1),
        ("A k-anonymous table, 10-anonymous, `k_anonymous`, [anonymous_for].", 0),
        ("ANONYMOUS DATA", 1),
        ("Data are anonymised, and anonymity is a property.", 0),
        ("| Is it anonymous? | for you |", 1),
        ("<p>Anonymous</p><p>for you</p>", 1),
        ("send_anonymous_usage_stats: false", 0),
    ],
)
def test_what_counts(text, count):
    assert len(without_for(text)) == count


def test_messages_that_are_put_together():
    source = 'raise AnonError(f, f"{name} is anonymous")\nx = "anonymous " "for you"\n'
    assert [found for text in texts_of(source) for found in without_for(text)] == ["x is anonymous"]
