"""How release, audit, verdict, report and verify relate: python parts_picture.py

Writes parts.svg, the picture of the page on how the parts fit, into the present folder.
"""

from pathlib import Path

WIDTH, HEIGHT = 150, 62
FILE, STEP, INK, LINE = "#0072B2", "#D55E00", "#222", "#666"
BOXES = {  # name: place across and down, color, title, second line
    "raw": (20, 120, FILE, "raw table", "private"),
    "recipe": (20, 230, FILE, "recipe", "roles, k, l, purpose"),
    "release": (220, 120, STEP, "release", "checks its own labels"),
    "audit": (420, 20, STEP, "audit, attacks", "compare both tables"),
    "released": (420, 120, FILE, "released table", "for the recipient"),
    "manifest": (420, 230, FILE, "manifest", "what was promised"),
    "verdict": (620, 20, STEP, "verdict", "red, amber or green"),
    "verify": (620, 175, STEP, "verify", "file against manifest"),
    "report": (820, 20, STEP, "report", "for those who sign"),
    "recipient": (820, 175, FILE, "recipient", "reads the ranges"),
}
ARROWS = (
    ("raw", "release"),
    ("recipe", "release"),
    ("release", "released"),
    ("release", "manifest"),
    ("raw", "audit"),
    ("released", "audit"),
    ("audit", "verdict"),
    ("verdict", "report"),
    ("released", "verify"),
    ("manifest", "verify"),
    ("verify", "recipient"),
)


def box(across, down, color, title, more):
    """Return a box with two lines of text."""
    middle = across + WIDTH / 2
    text = f'text-anchor="middle" x="{middle}"'
    return (
        f'<rect x="{across}" y="{down}" width="{WIDTH}" height="{HEIGHT}" rx="6" fill="{color}" '
        f'fill-opacity=".12" stroke="{color}" stroke-width="1.5"/>\n'
        f'<text {text} y="{down + 27}" font-size="15" font-weight="bold">{title}</text>\n'
        f'<text {text} y="{down + 46}">{more}</text>'
    )


def arrow(start, end):
    """Return an arrow from a box to another, from side to side or from top to bottom."""
    (left, above, *_), (right, below, *_) = BOXES[start], BOXES[end]
    if left == right:
        up = below < above
        x1 = x2 = left + WIDTH / 2
        y1, y2 = (above, below + HEIGHT + 3) if up else (above + HEIGHT, below - 3)
    else:
        far = right - left > 2 * WIDTH  # over the box between them
        x1, x2 = left + (WIDTH / 2 if far else WIDTH), right - 3
        y1, y2 = above + (0 if far else HEIGHT / 2), below + HEIGHT / 2
    return (
        f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{LINE}" stroke-width="1.5" '
        'marker-end="url(#tip)"/>'
    )


parts = [
    f'<marker id="tip" markerWidth="8" markerHeight="8" refX="6" refY="3" orient="auto">'
    f'<path d="M0,0 L6,3 L0,6 z" fill="{LINE}"/></marker>',
    *(arrow(*ends) for ends in ARROWS),
    *(box(*each) for each in BOXES.values()),
    f'<rect x="620" y="258" width="14" height="14" rx="3" fill="{FILE}" fill-opacity=".12" '
    f'stroke="{FILE}"/><text x="640" y="270">tables, files and people</text>',
    f'<rect x="820" y="258" width="14" height="14" rx="3" fill="{STEP}" fill-opacity=".12" '
    f'stroke="{STEP}"/><text x="840" y="270">steps</text>',
]
Path("parts.svg").write_text(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 990 312" '
    f'font-family="system-ui, sans-serif" font-size="12" fill="{INK}">\n'
    '<rect width="100%" height="100%" rx="6" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n",
    encoding="utf-8",
)
print(f"parts.svg: {len(BOXES)} parts, {len(ARROWS)} arrows")
