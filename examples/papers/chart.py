"""Line charts as small SVG files."""

import math
from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 360, 70, 200, 36, 44
COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#555555",
    "#8b5a2b",
    "#000000",
    "#7b3294",
)
DASHES = ("", "7 3", "2 3", "9 3 2 3")

Point = tuple[float | str, float]


def lines(title: str, x: str, y: str, series: Mapping[str, Sequence[Point]]) -> str:
    """Return a chart of the points of each name over evenly spaced x, joined if x is a number.

    y is logarithmic if it spans a factor of 50; otherwise it begins at 0.
    """
    places = list(dict.fromkeys(at for points in series.values() for at, _ in points))
    joined = not any(isinstance(at, str) for at in places)
    heights = [value for points in series.values() for _, value in points]
    logarithmic = min(heights) > 0 and max(heights) > 50 * min(heights)
    ticks = _decades(heights) if logarithmic else _steps(max(heights))
    low, high = (math.log10(ticks[0]), math.log10(ticks[-1])) if logarithmic else (0, ticks[-1])

    def across(at: float | str) -> float:
        step = (WIDTH - LEFT - RIGHT) / max(len(places) - 1, 1)
        return LEFT + places.index(at) * step

    def up(value: float) -> float:
        share = ((math.log10(value) if logarithmic else value) - low) / (high - low)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    width = max(WIDTH, right + 52 + 7 * max(map(len, series)))  # room for the longest name
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" '
        'font-family="sans-serif" font-size="12" fill="#222">',
        '<rect width="100%" height="100%" fill="#fff"/>',
        _text(LEFT, 20, title, "font-weight='bold'"),
        _text((LEFT + right) / 2, HEIGHT - 8, x, "text-anchor='middle'"),
        _text(
            0, 0, y, f"text-anchor='middle' transform='translate(14 {bottom / 2 + 18}) rotate(-90)'"
        ),
    ]
    for tick in ticks:
        drawn.append(
            f'<path d="M{LEFT} {up(tick):.1f}H{right}" stroke="#ddd"/>'
            + _text(LEFT - 6, up(tick) + 4, f"{tick:,.6g}", "text-anchor='end'")
        )
    for at in places:
        drawn.append(
            _text(
                across(at),
                bottom + 17,
                at if isinstance(at, str) else f"{at:,g}",
                "text-anchor='middle'",
            )
        )
    for at, (name, points) in enumerate(series.items()):
        colour, dash = COLOURS[at % len(COLOURS)], DASHES[at % len(DASHES)]
        style = f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}" fill="none"'
        corners = " ".join(f"{across(a):.1f},{up(b):.1f}" for a, b in points)
        row = TOP + 10 + 20 * at
        if joined:
            drawn.append(f'<polyline points="{corners}" {style}/>')
        drawn += [
            f'<circle cx="{across(a):.1f}" cy="{up(b):.1f}" r="3" fill="{colour}"/>'
            for a, b in points
        ]
        if joined:
            drawn.append(f'<path d="M{right + 12} {row}h26" {style}/>')
        else:
            drawn.append(f'<circle cx="{right + 25}" cy="{row}" r="4" fill="{colour}"/>')
        drawn.append(_text(right + 44, row + 4, name))
    return "\n".join([*drawn, "</svg>", ""])


def _text(x: float, y: float, text: str, style: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(text)}</text>'


def _decades(values: Sequence[float]) -> list[float]:
    first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return [10.0**power for power in range(first, last + 1)]


def _steps(highest: float) -> list[float]:
    """Return 0 and four to nine round numbers, the last not below the highest value."""
    rough = (highest or 1) / 5
    unit = 10 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= rough)
    return [step * number for number in range(math.ceil((highest or 1) / step) + 1)]
