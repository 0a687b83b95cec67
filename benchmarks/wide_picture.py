"""Draw the table of wide tables: processor seconds and memory by the number of columns.

    python benchmarks/wide_picture.py docs/measurements/large-releases.md FILE

The table is the one that ``benchmarks/wide.py`` filled; both axes are linear.
"""

import re
import sys
from itertools import cycle
from pathlib import Path

Points = dict[str, list[tuple[int, float]]]
COLOURS = ("#888888", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
WIDE, HIGH, LEFT, TOP = 330, 260, 60, 34
STEPS = (0.25, 0.5, 1, 5, 10, 25, 50, 100)  # between the lines of a grid


def recorded(page: str) -> dict[str, Points]:
    """Return processor seconds and memory by columns, of each command in the table of a page."""
    table = page.partition("| columns | command |")[2].partition("\n\n")[0]
    panels: dict[str, Points] = {"processor seconds": {}, "peak memory in GB": {}}
    columns = 0
    for row in table.splitlines()[2:]:
        size, command, seconds, _, memory = (cell.strip() for cell in row.split("|")[1:-1])
        columns = int(size.replace(",", "")) if size else columns
        for points, figure in zip(panels.values(), (seconds, memory), strict=True):
            points.setdefault(re.sub("`", "", command), []).append((columns, float(figure)))
    return panels


def panel(title: str, lines: Points, left: int) -> list[str]:
    """Return the parts of one diagram."""
    most_x = max(x for points in lines.values() for x, _ in points)
    highest = max(y for points in lines.values() for _, y in points)
    step = next((step for step in STEPS if highest / step <= 6), STEPS[-1])
    most_y = step * -(-highest // step)
    parts = [f'<text x="{left}" y="{TOP - 16}" font-weight="bold">{title} by columns</text>']
    for line in range(round(most_y / step) + 1):
        y = TOP + HIGH * (1 - line * step / most_y)
        parts.append(f'<path d="M{left} {y:.0f}h{WIDE}" stroke="#ddd"/>')
        number = f'x="{left - 6}" y="{y + 4:.0f}" text-anchor="end"'
        parts.append(f"<text {number}>{line * step:g}</text>")
    for x in sorted({x for points in lines.values() for x, _ in points if x >= most_x / 20}):
        place = f'x="{left + WIDE * x / most_x:.0f}" y="{TOP + HIGH + 18}" text-anchor="middle"'
        parts.append(f"<text {place}>{x:,}</text>")
    for colour, points in zip(cycle(COLOURS), lines.values(), strict=False):
        at = [(left + WIDE * x / most_x, TOP + HIGH * (1 - y / most_y)) for x, y in points]
        way = " ".join(f"{a:.1f},{b:.1f}" for a, b in at)
        parts.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in at]
    return parts


def picture(panels: dict[str, Points]) -> str:
    """Return an SVG with a diagram per panel, and the names of the lines below."""
    parts: list[str] = []
    for number, (title, lines) in enumerate(panels.items()):
        parts += panel(title, lines, LEFT + number * (WIDE + 80))
    for number, (colour, name) in enumerate(zip(COLOURS, lines, strict=False)):
        x, y = LEFT + number % 3 * 240, TOP + HIGH + 48 + number // 3 * 20
        parts.append(f'<path d="M{x} {y - 4}h26" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{x + 34}" y="{y}">{name}</text>')
    size = f'viewBox="0 0 {LEFT + 2 * WIDE + 110} {TOP + HIGH + 84}"'
    font = 'font-family="system-ui, sans-serif" font-size="12" fill="#222"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>'
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>\n"])


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(picture(recorded(Path(sys.argv[1]).read_text("utf-8"))), "utf-8")
