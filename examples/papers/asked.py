"""The command-line arguments of the scripts in this folder."""

import argparse
from pathlib import Path

PAGES = Path(__file__).resolve().parents[2] / "docs" / "papers"


def read(description: str, ks: list[int], **more: str) -> argparse.Namespace:
    """Return data and into (folders), rows (None for all), ks, seeds (a number), and ``more``."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("data", type=Path, help="the folder of the real tables")
    parser.add_argument("--into", type=Path, default=PAGES, help="the folder of the pages")
    parser.add_argument("--rows", type=int, help="the first so many rows, for a quick look")
    parser.add_argument("--ks", type=int, nargs="+", default=ks, help="smallest classes, in rows")
    parser.add_argument("--seeds", type=int, default=5, help="how many, where there is randomness")
    parser.add_argument(
        "--results", type=Path, help="a file that keeps what was measured; it is read if it exists"
    )
    for name, default in more.items():
        parser.add_argument(f"--{name}", default=default)
    return parser.parse_args()
