"""sqlglot's classes of trees, imported with the first of them that is used.

To import sqlglot takes a fifth of the time to import the package, and no connection needs it.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Return a class or function of ``sqlglot.expressions``, and keep it: some are used often."""
    value = getattr(import_module("sqlglot.expressions"), name)
    globals()[name] = value
    return value
