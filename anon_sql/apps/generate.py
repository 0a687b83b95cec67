"""Make docs/reference.md from the headers in sql/: ``python -m anon_sql.apps.generate``."""

import sys
from collections.abc import Sequence
from pathlib import Path

from anon_sql.hosts.duckdb.sql_files import Entry, entries, folder

_INTRO = """\
<!-- Made from the headers in sql/ by `python -m anon_sql.apps.generate`; edit those. -->

# Reference

This page describes every function of the package. `FROM anon_help('rayden')` returns the same
text in SQL, and `FROM anon_help()` lists all functions. Only the first arguments are positional;
pass all others by name with `:=`. `SELECT anon_version()` returns the registered version."""


def page(functions: Sequence[Entry]) -> str:
    """Return the page as Markdown."""
    groups: dict[str, list[Entry]] = {}
    for entry in functions:
        groups.setdefault(entry.topic, []).append(entry)
    parts = [_INTRO]
    for group, members in groups.items():
        links = ", ".join(f"[`{entry.name}`](#{entry.name})" for entry in members)
        parts.append(f"{group}: {links}")
    for group, members in groups.items():
        parts.append(f"## {group}")
        parts.extend(_shown(entry) for entry in members)
    return "\n\n".join(parts) + "\n"


def _shown(entry: Entry) -> str:
    listed = [
        f"- {', '.join(f'`{name}`' for name in names)}: {text}" for names, text in entry.arguments
    ]
    parts = [
        f"### {entry.name}",
        entry.description,
        f"```text\n{entry.call}\n```",
        entry.note,
        "\n".join(listed),
        f"Returns: {entry.returns}",
        f"Errors: {entry.errors}",
        f"```sql\n{entry.example}\n```",
    ]
    return "\n\n".join(part for part in parts if part)


def main(arguments: Sequence[str]) -> int:
    """Write the page, or with ``--check`` compare it, and return the exit code."""
    target = _target()
    made = page(entries())
    if list(arguments) == ["--check"]:
        fresh = target.is_file() and target.read_text(encoding="utf-8") == made
        if not fresh:
            sys.stderr.write(f"{target} is stale: run python -m anon_sql.apps.generate\n")
        return 0 if fresh else 1
    if arguments:
        sys.stderr.write("usage: python -m anon_sql.apps.generate [--check]\n")
        return 2
    target.parent.mkdir(exist_ok=True)
    target.write_text(made, encoding="utf-8")
    return 0


def _target() -> Path:
    """Return the path of docs/reference.md in the checkout that holds sql/."""
    return folder().parent / "docs" / "reference.md"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
