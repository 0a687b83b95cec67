"""Write the headline claims of all pages to docs/papers/README.md.

python examples/papers/summary.py
"""

import argparse
import re
from pathlib import Path

import asked
import page

PAPERS = {
    "rayden": "RAYDEN",
    "canon": "CANON",
    "mondrian_cof": "M-COF",
    "mondrian_cof_classification": "M-COF",
    "dop": "DOP",
    "sdka": "SDkA",
}
HEADLINE = re.compile(r"^\| \*\*(.+?)\*\* \| (.+) \|$", re.MULTILINE)
HEADS = ["paper", "it says", "paper's kind", "size", "competent", "size"]


def main() -> None:
    parser = argparse.ArgumentParser(description="The headline claims of all pages on one.")
    parser.add_argument("pages", type=Path, nargs="?", default=asked.PAGES, help="their folder")
    parser.add_argument("--into", type=Path, default=asked.PAGES, help="the folder of README.md")
    given = parser.parse_args()
    rows = []
    for name, paper in PAPERS.items():
        file = given.pages / f"{name}.md"
        if file.is_file():
            for said, rest in HEADLINE.findall(file.read_text(encoding="utf-8")):
                _, _, *kind, _, direction, size = rest.split(" | ")
                rows.append([f"[{paper}]({file.name})", said, *kind, direction, size])
    template = Path(__file__).with_name("templates") / "summary.md"
    text = template.read_text(encoding="utf-8").replace("{table}", page.markdown(HEADS, rows))
    (given.into / "README.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
