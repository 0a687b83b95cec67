"""The very first call on a machine compiles the kernels; a person at a terminal is told so."""

import sys
from pathlib import Path

NOTICE = "anon_sql: compiling its kernels, once on this machine; this takes up to a minute …\n"


def announce() -> None:
    """Say that compilation is about to begin, where nothing compiled is found on disk."""
    from anon_sql.kernels.hashing import mix

    compiled = Path(mix.stats.cache_path).glob("hashing.mix-*.nbi")
    if sys.stderr.isatty() and not mix.signatures and not any(compiled):
        sys.stderr.write(NOTICE)
        sys.stderr.flush()
