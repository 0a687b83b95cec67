"""Write the claims of all pages to docs/papers/README.md: python examples/papers/summary.py"""

import argparse
import re
from pathlib import Path

import asked

ORDER = ["rayden", "canon", "mondrian_cof", "mondrian_cof_classification", "dop", "sdka"]
SECTION = re.compile(r"^# (.+?)\n.*?^## Claims\n\n(.+?)\n\n", re.MULTILINE | re.DOTALL)


def main() -> None:
    parser = argparse.ArgumentParser(description="The claims of all pages on one.")
    parser.add_argument("pages", type=Path, nargs="?", default=asked.PAGES, help="their folder")
    parser.add_argument("--into", type=Path, default=asked.PAGES, help="the folder of README.md")
    given = parser.parse_args()
    parts = [
        Path(__file__).with_name("templates").joinpath("summary.md").read_text(encoding="utf-8")
    ]
    for name in ORDER:
        file = given.pages / f"{name}.md"
        if file.is_file():
            title, table = SECTION.search(file.read_text(encoding="utf-8")).groups()
            parts.append(f"## [{title}]({file.name})\n\n{table}\n")
    (given.into / "README.md").write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
