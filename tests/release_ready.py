"""Whether a version can be released: ``python -m tests.release_ready v1.2.3``.

Prints what is missing, and ends with 1 if anything is. ``--notes`` prints the changelog's section of
the version instead, which becomes the text of the release.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def placeholders(root=ROOT):
    """The names of addresses that the project does not have yet."""
    listed = tomllib.loads((root / "placeholders.toml").read_text("utf-8"))
    return [name for name, each in listed.items() if not each["value"]]


def notes(version, root=ROOT):
    """The section of a version in the changelog, without its heading; None if there is none."""
    text = (root / "CHANGELOG.md").read_text("utf-8")
    found = re.search(rf"^## {re.escape(version)}\b[^\n]*\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    return found[1].strip() if found else None


def missing(tag, root=ROOT):
    """Sentences that say what keeps a version from being released."""
    version = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    if tag != f"v{version}":
        yield f"the tag must be v{version}, the version of pyproject.toml, got {tag}"
    cited = re.search(r"^version: (.*)$", (root / "CITATION.cff").read_text("utf-8"), re.M)
    if cited is None or cited[1] != version:
        yield f"CITATION.cff must have version {version}"
    heading = re.search(
        rf"^## {re.escape(version)} \((.*)\)", (root / "CHANGELOG.md").read_text("utf-8"), re.M
    )
    if heading is None or not re.fullmatch(r"\d{4}-\d\d-\d\d", heading[1]):
        yield f"CHANGELOG.md must have the heading '## {version} (YYYY-MM-DD)'"
    for name in placeholders(root):
        yield f"placeholders.toml: {name} is empty"


def main(arguments):
    """Run what the module says."""
    if arguments[:1] == ["--notes"]:
        text = notes(arguments[1].removeprefix("v"))
        if text is None:
            sys.exit("the changelog has no section of this version")
        sys.stdout.write(f"{text}\n")
        return
    wrong = list(missing(arguments[0]))
    sys.exit("\n".join(wrong) if wrong else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
