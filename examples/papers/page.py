"""A Markdown page with tables and charts."""

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import chart
import duckdb
from verdicts import Verdict


class Claim(NamedTuple):
    """A claim of a paper with its own quantifier, the printed figure, and two verdicts.

    The first verdict is against the kind of baseline that the paper had, the second against a
    competent one. The summary of all pages shows the claims that are marked as headlines.
    """

    said: str
    printed: str
    kind: Verdict
    competent: Verdict
    headline: bool = False


class Page:
    """The paragraphs of a page; ``write`` writes the file."""

    def __init__(self, folder: Path, name: str, title: str) -> None:
        self.folder, self.name = folder, name
        self.parts = [f"# {title}"]
        folder.mkdir(parents=True, exist_ok=True)

    def heading(self, text: str) -> None:
        self.parts.append(f"## {text}")

    def text(self, text: str) -> None:
        self.parts.append(text)

    def template(self, part: str, **values: object) -> None:
        """Add the text of a file in ``templates`` with ``values`` in its braces."""
        file = Path(__file__).with_name("templates") / f"{self.name}_{part}.md"
        text = file.read_text(encoding="utf-8").strip().format(**values)
        self.text("\n\n".join(map(_filled, text.split("\n\n"))))

    def table(self, relation: duckdb.DuckDBPyRelation) -> None:
        """Add all rows as a table."""
        self.rows(relation.columns, relation.fetchall())

    def rows(self, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        self.parts.append(markdown(columns, rows))

    def claims(self, claims: Sequence[Claim]) -> None:
        """Add the claims, from which the summary of all pages is made."""
        self.heading("Claims")
        two = ["direction", "size"]
        self.rows(
            ["the paper says", "printed", "the paper's kind", *two, "a competent one", *two],
            [
                [f"**{c.said}**" if c.headline else c.said, c.printed, *c.kind, *c.competent]
                for c in claims
            ],
        )

    def chart(
        self, name: str, title: str, x: str, y: str, series: Mapping[str, Sequence[chart.Point]]
    ) -> None:
        file = f"{self.name}_{name}.svg"
        (self.folder / file).write_text(chart.lines(title, x, y, series), encoding="utf-8")
        self.parts.append(f"![{title}]({file})")

    def write(self) -> None:
        self.text(f"Made by `examples/papers/{self.name}.py`.")
        text = "\n\n".join(self.parts) + "\n"
        (self.folder / f"{self.name}.md").write_text(text, encoding="utf-8")


def markdown(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table; a float has three digits after the point."""
    lines = [columns, ["---"] * len(columns), *([_cell(v) for v in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _filled(paragraph: str) -> str:
    """Break the lines of a paragraph again, since values differ in length; not those of a list."""
    if paragraph.startswith("- "):
        return paragraph
    return textwrap.fill(
        " ".join(paragraph.split()), 100, break_long_words=False, break_on_hyphens=False
    )


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
