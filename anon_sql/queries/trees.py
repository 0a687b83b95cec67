"""sqlglot's classes of trees, imported with the first query that is read.

To import sqlglot takes a fifth of the time to import the package, and no connection needs it.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Return a class or function of ``sqlglot.expressions``."""
    return getattr(import_module("sqlglot.expressions"), name)
