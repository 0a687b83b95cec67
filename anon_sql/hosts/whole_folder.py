"""Write a folder of Parquet files whole or not at all, and replace no other folder."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from anon_sql.errors import AnonError
from anon_sql.hosts.parquet_files import others
from anon_sql.hosts.unfinished import REPLACED, hidden_path, locked, remove, settle


def means_folder(target: str) -> bool:
    """Return whether a path as the user gives it is that of a folder."""
    return target.endswith("/") or Path(target).is_dir()


def require_new_folder(name: str, target: Path, overwrite: bool, hint: str) -> None:
    """Raise AnonError for a target that exists, unless it may be replaced; name: as errors do."""
    if not target.exists():
        return
    if not target.is_dir():
        raise AnonError("release", f"{name} must be a new folder", f"the file '{target}'")
    if not overwrite:
        got = f"'{target}', which exists"
        raise AnonError("release", f"{name} must be a new folder", got, hint)
    _require_own(target, target)


def _require_own(folder: Path, target: Path) -> None:
    """Raise AnonError unless a folder, shown as ``target``, holds nothing but a release."""
    found = others(folder)
    if found:
        rule = "a folder that is replaced must hold only files of an earlier release"
        raise AnonError("release", rule, f"'{found[0]}' in '{target}'", "name another folder")


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """Give the path of an unfinished folder beside the target, which replaces it at the end.

    An error leaves nothing behind, and an old folder as it was. Raises AnonError if that holds
    anything but a release.
    """
    final = target.resolve()
    unfinished, old = hidden_path(final), hidden_path(final, REPLACED)
    unfinished.mkdir()
    try:
        with ExitStack() as held:
            held.enter_context(locked(unfinished))
            yield unfinished
            if final.exists():
                held.enter_context(locked(final))
                final.rename(old)
                _require_own(old, final)
            unfinished.rename(final)
    finally:
        settle(old, final)
        remove(unfinished)
