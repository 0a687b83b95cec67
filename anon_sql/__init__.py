"""k-anonymous tables and what they cost, as SQL functions in DuckDB."""

from anon_sql.declare import declare
from anon_sql.errors import AnonError
from anon_sql.install import connect, register, unregister
from anon_sql.version import VERSION as __version__

__all__ = ["AnonError", "__version__", "connect", "declare", "register", "unregister"]
