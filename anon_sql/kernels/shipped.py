"""Take the compiled kernels that a wheel brings, where they fit this machine.

A wheel for one platform and one version of Python holds what numba compiled for a common level of
its processors. They are copied once to where numba looks for compiled kernels, as if it had
compiled them here. A kernel that is not among them, and all of them on a machine that they do not
fit, are compiled as without such a wheel. ``anon_sql.apps.platform_wheel`` makes the wheel.
"""

import json
import platform
import sys
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from llvmlite import binding

Files = Callable[[Path], list[Path]]
Copy = Callable[[Path, Path, Path], None]
FOLDER = Path(__file__).with_name("compiled")
LIST = "compiled.json"
# The processors for which kernels are compiled, by machine: numba's settings of the environment.
# x86-64-v3 is Intel since Haswell (2013) and AMD since Excavator (2015).
LEVELS = {
    "x86_64": {
        "NUMBA_CPU_NAME": "x86-64-v3",
        "NUMBA_CPU_FEATURES": "+avx,+avx2,+bmi,+bmi2,+cx16,+f16c,+fma,+lzcnt,+movbe,+popcnt,+sse,"
        "+sse2,+sse3,+sse4.1,+sse4.2,+ssse3",
    },
    "aarch64": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "+neon"},
}
_MACHINES = {"AMD64": "x86_64", "arm64": "aarch64"}  # other names of the same


def machine() -> str:
    """Return the kind of processor, by one name on every system."""
    return _MACHINES.get(platform.machine(), platform.machine())


def needs(kernels: Path = FOLDER.parent) -> dict[str, str]:
    """Return what must be equal where kernels are compiled and where they run."""
    files = sorted(kernels.glob("*.py"))
    texts = sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()
    return {
        "kernels": texts,
        "system": sys.platform,
        "machine": machine(),
        "python": sys.implementation.cache_tag,
        "numba": version("numba"),
        "llvmlite": version("llvmlite"),
        "numpy": version("numpy").rpartition(".")[0],
    }


def fits(listed: dict[str, Any]) -> bool:
    """Return whether kernels run here. listed: what the list says of them."""
    has = binding.get_host_cpu_features()
    wanted = listed["level"]["NUMBA_CPU_FEATURES"].split(",")
    return bool(listed["needs"] == needs() and all(has.get(each[1:], False) for each in wanted))


def take(folder: Path, files: Files, copy: Copy, source: Path = FOLDER) -> bool:
    """Copy kernels to numba's folder, unless it was done; return whether they are there.

    They are not there if they do not fit, or the folder cannot be written. files, copy: the
    functions ``compiled_files`` and ``copy_compiled`` of ``numba_internals``, which imports this
    module.
    """
    with suppress(OSError, KeyError, TypeError, ValueError, AttributeError):  # a damaged list
        text = (source / LIST).read_text("utf-8")
        mark = folder / LIST
        if mark.exists() and mark.read_text("utf-8") == text:
            return True
        if not fits(json.loads(text)):
            return False
        folder.mkdir(parents=True, exist_ok=True)
        for file in files(source):
            copy(file, folder / file.name, FOLDER.parent)
        mark.write_text(text, "utf-8")
        return True
    return False
