"""Print the lowest versions that pyproject.toml allows: ``python -m tests.lowest_versions EXTRA …``.

They are constraints for pip, of the package's own dependencies and those of the extras that are
named: ``pip install -c constraints.txt --editable '.[EXTRA,…]'`` then installs what somebody with old
packages has. What these depend on themselves is the newest that fits.
"""

import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def lowest(project: dict[str, Any], extras: Iterable[str]) -> dict[str, Version]:
    """Return the lowest version allowed of each direct dependency, by name.

    Of a package that is named twice it is the higher one. Raises ValueError for a dependency
    without a lower bound, and KeyError for an extra that does not exist.
    """
    optional = project["optional-dependencies"]
    found: dict[str, Version] = {}
    for text in (*project["dependencies"], *(text for extra in extras for text in optional[extra])):
        requirement = Requirement(text)
        bounds = [Version(each.version) for each in requirement.specifier if each.operator == ">="]
        if len(bounds) != 1:
            raise ValueError(f"{text} must have one lower bound, >=")
        name = canonicalize_name(requirement.name)
        found[name] = max(found.get(name, bounds[0]), bounds[0])
    return found


def main() -> None:
    """Print the constraints, a line each."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    for name, version in lowest(project, sys.argv[1:]).items():
        sys.stdout.write(f"{name}=={version}\n")


if __name__ == "__main__":
    main()
