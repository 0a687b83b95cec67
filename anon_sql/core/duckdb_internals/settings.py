"""Texts of DuckDB's settings: a size, as ``current_setting('memory_limit')`` prints it."""

_POWERS = {"bytes": 0, "KiB": 1, "MiB": 2, "GiB": 3, "TiB": 4, "PiB": 5}


def size_in_bytes(printed: str | None) -> int | None:
    """Return a printed size in bytes, such as of ``12.4 GiB``; None for a text of another form.

    DuckDB cuts the number off after one decimal, so that the size is at least the result.
    """
    number, _, unit = (printed or "").partition(" ")
    if unit not in _POWERS or not number.replace(".", "", 1).isdigit():
        return None
    return int(float(number) * 1024 ** _POWERS[unit])


def size_to_set(printed: str) -> str:
    """Return a text that sets at least a printed size, which DuckDB has cut off."""
    number, _, unit = printed.partition(" ")
    return f"{float(number) + 0.05:.2f} {unit}"
