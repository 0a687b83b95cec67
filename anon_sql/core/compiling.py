"""Announce that the first call on a machine compiles the kernels."""

import sys
from pathlib import Path

NOTICE = "anon_sql: compiling its kernels, once on this machine; this takes up to a minute …\n"


def announce() -> None:
    """Write NOTICE to stderr if no compiled kernel is cached on disk, also where it is piped."""
    from anon_sql.kernels.hash.hashing import mix

    compiled = Path(mix.stats.cache_path).glob("hashing.mix-*.nbi")
    if not mix.signatures and not any(compiled):
        sys.stderr.write(NOTICE)
        sys.stderr.flush()
