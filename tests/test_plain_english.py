"""Pages, code and SQL have no habit that makes a reader begin a sentence again."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/**/*.md")])
HABITS = {
    "whoever": re.compile(r"\bwhoever\b", re.IGNORECASE),
    "nobody": re.compile(r"\bnobody\b", re.IGNORECASE),
    "is none of": re.compile(r"\b(?:is|are) none of\b", re.IGNORECASE),
    "a bare a for per": re.compile(
        r"\b(?:bytes|[kMG]B|MiB|seconds|one (?:row|task|file)) a "
        r"(?:row|task|page|second|person|month|class|column|part|file|year)\b"
    ),
    "a sentence that begins with Of": re.compile(
        r"(?:^|[.:;!?][*)]* |\n(?:[-*>] |\d+\. |\|? ?))Of (?!course\b)"
    ),
}
ALLOWED = {  # page: what a line of it may have
    "docs/do/attack-a-release.md": ("Of the rows that are not", "Of a node of"),
    "docs/understand/known-algorithm.md": ("Of transparent releases",),
}


def prose(text: str) -> str:
    """Return a page without its blocks of code, a paragraph or list item per line."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"\n(?!\n|[-*>|#] ?|\d+\. ) *", " ", re.sub(r"\n\s*\n", "\n\n", text))


def habits(text: str, allowed: tuple[str, ...] = ()) -> list[str]:
    """Return the habits in a page, each with the words around it."""
    found = []
    for line in prose(text).splitlines():
        for name, habit in HABITS.items():
            for hit in habit.finditer(f"\n{line}"):
                if not any(part in line for part in allowed):
                    found.append(f"{name}: {line[max(0, hit.start() - 30) : hit.end() + 40]}")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_has_no_habit_that_costs_a_second_reading(page):
    allowed = ALLOWED.get(page.relative_to(ROOT).as_posix(), ())
    assert habits(page.read_text("utf-8"), allowed) == []


LONG = 30  # words of a sentence
LISTED = 6  # commas of a list of columns
MEASURED = (
    "docs/measurements/",
    "docs/papers/",
    "docs/look-up/reference.md",
)  # figures and lists of columns
TEXTS = [
    page
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]
    if not page.relative_to(ROOT).as_posix().startswith(MEASURED)
]


def sentences(text: str) -> list[str]:
    """Return the sentences of a page, without tables and headings, with a word for each code.

    A part in parentheses is not counted, and a semicolon or colon ends a sentence.
    """
    texts = [line for line in prose(text).splitlines() if not line.startswith(("|", "#"))]
    plain = [re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "x", line)) for line in texts]
    bare = [re.sub(r"\([^()]*\)", "", re.sub(r"\([^()]*\)", "", line)) for line in plain]
    return [one for line in bare for one in re.split(r"(?<=[.!?:;])[\"*)]* +", line)]


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_sentence_of_a_page_has_more_than_thirty_words(page):
    texts = sentences(page.read_text("utf-8"))
    long = [one for one in texts if len(words(one)) > LONG and one.count(",") < LISTED]
    assert long == []


def words(sentence: str) -> list[str]:
    return [word for word in sentence.split() if re.search(r"\w", word)]


WORDS = {name: HABITS[name] for name in ("whoever", "nobody", "is none of", "a bare a for per")}
SOURCES = sorted(
    path
    for folder, ending in (("anon_sql", "py"), ("anon_sql", "html"), ("sql", "sql"))
    for path in ROOT.glob(f"{folder}/**/*.{ending}")
)


def test_code_has_none_of_their_words():
    found = [
        f"{path.relative_to(ROOT)}:{number}: {name}"
        for path in SOURCES
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        for name, habit in WORDS.items()
        if habit.search(line)
    ]
    assert len(SOURCES) > 400
    assert found == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("The attacker has\nboth. Of these, one is left.", 1),
        ("- Of two, the first.\n- All of them.", 1),
        ("A series is\nnone of these; whoever reads it knows. Nobody does.", 3),
        ("| part | Of a node |", 0),
        ("| part |\n| Of a node |", 1),
        ("```text\nnobody\n```\n\nOf course.", 0),
    ],
)
def test_the_habits_are_found_outside_of_code(text, count):
    assert len(habits(text)) == count
