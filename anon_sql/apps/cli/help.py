"""``anon-sql help``: print a page of the documentation, or what a function does."""

import re
import sys
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

import anon_sql
from anon_sql.apps.cli import console
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.hosts.duckdb import sql_files

FOLDERS = {
    "learn": "Learn",
    "do": "Do one thing",
    "understand": "Understand",
    "look-up": "Look up",
}
WIDEST = 100  # columns of a page on a terminal
_LINK = re.compile(r"\[([^\]]+)\]\((?![a-z]+:)([^)#]*)[^)]*\)")  # to another page or a file


def pages() -> dict[str, Path]:
    """Return the pages by topic, folder after folder: of the wheel, or of the checkout."""
    package = Path(str(files("anon_sql")))
    inside = package / "docs"
    docs = inside if inside.is_dir() else package.parent / "docs"
    return {page.stem: page for name in FOLDERS for page in sorted((docs / name).rglob("*.md"))}


def title(page: Path) -> str:
    """Return the title of a page."""
    lines = page.read_text(encoding="utf-8").splitlines()
    return next(line.removeprefix("# ") for line in lines if line.startswith("# "))


def show_help(
    topic: Annotated[
        str | None, typer.Argument(help="Page or function. Default: list all pages.")
    ] = None,
) -> None:
    """Print a page of the documentation, or the help of an SQL function.

    A name of both, such as anonymize, prints the page and below it the function.

    Example: anon-sql help k-anonymity
    """
    with console.one_sentence():
        topics = pages()
        is_function = topic in {entry.name for entry in sql_files.entries()}
        if topic is None:
            _list(topics)
        elif topic in topics or is_function:
            if topic in topics:
                _print(topics[topic].read_text(encoding="utf-8"))
            if is_function:
                _print_function(topic, below=topic in topics)
        else:
            rule = "the topic must be a page or a function"
            raise AnonError("help", rule, f"'{topic}'", did_you_mean(topic, topics))


def _list(topics: dict[str, Path]) -> None:
    width = max(map(len, topics)) + 2
    for folder, heading in FOLDERS.items():
        console.say(heading)
        for topic, page in topics.items():
            if folder in (page.parent.name, page.parent.parent.name):
                console.say(f"  {topic:{width}}{title(page)}")
    console.say()
    console.say("anon-sql help TOPIC prints a page, anon-sql help FUNCTION the help of a function.")


def _print_function(name: str, below: bool) -> None:
    """Print what a function does, takes and returns; below a page, under a heading."""
    if below:
        _print(f"\n## The function {name}\n\n")
    with anon_sql.connect() as con:
        for part, text in con.execute("FROM anon_help(?)", [name]).fetchall():
            console.say(f"{part}: {text}")


def _print(text: str) -> None:
    """Print Markdown: formatted on a terminal, as it is where it is piped."""
    if not sys.stdout.isatty():
        sys.stdout.write(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    screen = Console()
    screen.print(Markdown(_LINK.sub(_without_link, text)), width=min(WIDEST, screen.width))


def _without_link(link: re.Match[str]) -> str:
    """Return the text of a link, with the topic of its page: a terminal cannot follow it."""
    topic = Path(link[2]).stem
    return f"{link[1]} (help {topic})" if topic in pages() else link[1]
