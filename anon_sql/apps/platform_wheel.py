"""Add compiled kernels to a wheel: ``python -m anon_sql.apps.platform_wheel WHEEL``.

pip takes a wheel that names its platform and version of Python before the one for all, so that
the first release there compiles nothing. It must be made with the versions of numba and numpy that
users get.
"""

import json
import os
import shutil
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from anon_sql import kernels

_PLATFORMS = {  # of wheels of numba, whose code they need
    ("linux", "x86_64"): "manylinux_2_28_x86_64",
    ("linux", "aarch64"): "manylinux_2_28_aarch64",
    ("darwin", "aarch64"): "macosx_12_0_arm64",
    ("win32", "x86_64"): "win_amd64",
}
_COMPILE = "from anon_sql.apps.main import main; main()"


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the wheel, and print its path."""
    parser = ArgumentParser(prog="platform_wheel", description=__doc__)
    parser.add_argument("wheel", type=Path, help="the wheel for all platforms")
    parser.add_argument("--into", type=Path, help="folder of the new one, else that of the wheel")
    options = parser.parse_args(arguments)
    sys.stdout.write(f"{make(options.wheel, options.into or options.wheel.parent)}\n")


def make(wheel: Path, into: Path) -> Path:
    """Return the path of a wheel for this platform and Python, made of one for all."""
    with TemporaryDirectory() as temporary:
        work = Path(temporary)
        _wheel("unpack", wheel, "--dest", work)
        (root,) = work.iterdir()
        package, cache = root / "anon_sql", work / "cache"
        _compile(root, cache)
        _add(cache, package / "kernels" / kernels.shipped.FOLDER.name)
        made = work / "wheels"
        made.mkdir()
        _wheel("pack", root, "--dest-dir", made)
        (packed,) = made.glob("*.whl")
        version = f"cp{sys.version_info.major}{sys.version_info.minor}"
        platform = _PLATFORMS[sys.platform, kernels.shipped.machine()]
        tags = ("--python-tag", version, "--abi-tag", "none", "--platform-tag", platform)
        _wheel("tags", *tags, "--remove", packed)
        (tagged,) = made.glob("*.whl")
        return Path(shutil.copy(tagged, into))


def _wheel(command: str, *arguments: object) -> None:
    """Run a command of the package wheel. Raises CalledProcessError if it fails."""
    call = [sys.executable, "-m", "wheel", command, *map(str, arguments)]
    subprocess.run(call, check=True, stdout=subprocess.DEVNULL)


def _compile(root: Path, cache: Path) -> None:
    """Compile all kernels of an unpacked wheel for the common level of processors."""
    level = kernels.shipped.LEVELS[kernels.shipped.machine()]
    paths = {"PYTHONPATH": str(root), "NUMBA_CACHE_DIR": str(cache)}
    call = [sys.executable, "-c", _COMPILE, "compile"]
    subprocess.run(call, check=True, env={**os.environ, **level, **paths}, cwd=root)


def _add(cache: Path, folder: Path) -> None:
    """Put what was compiled into the package, with the list of what it needs."""
    folder.mkdir()
    for file in kernels.numba_internals.compiled_files(cache):
        shutil.copyfile(file, folder / file.name)
    listed = {
        "needs": kernels.shipped.needs(folder.parent),
        "level": kernels.shipped.LEVELS[kernels.shipped.machine()],
    }
    (folder / kernels.shipped.LIST).write_text(json.dumps(listed, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
