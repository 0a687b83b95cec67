"""Announce on a terminal that the first call on a machine compiles the kernels."""

import sys
from pathlib import Path

NOTICE = "anon_sql: compiling its kernels, once on this machine; this takes up to a minute …\n"


def announce() -> None:
    """Write NOTICE to stderr if it is a terminal and no compiled kernel is cached on disk."""
    from anon_sql.kernels.hash.hashing import mix

    compiled = Path(mix.stats.cache_path).glob("hashing.mix-*.nbi")
    if sys.stderr.isatty() and not mix.signatures and not any(compiled):
        sys.stderr.write(NOTICE)
        sys.stderr.flush()
