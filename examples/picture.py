"""Two hundred people as dots, and the classes of their release as boxes: python picture.py

Writes classes.svg, the picture of the README, into the present folder.
"""

from pathlib import Path

import anon_sql
from anon_sql import datasets

WIDTH, HEIGHT, EDGE, GAP = 300, 220, 34, 40
TEXT = 'font-family="sans-serif" font-size="12" fill="#666"'

con = anon_sql.connect()
datasets.adult(con, 200, roles=False)
people = con.sql("SELECT age, education_num FROM adult").fetchall()
boxes = con.sql(
    """
    WITH shown AS (SELECT age, education_num, income FROM adult)
    SELECT DISTINCT age.min, age.max, education_num.min, education_num.max
    FROM anonymize('shown', k := 10, quasi := ['age', 'education_num'], sensitive := ['income'],
        format := 'typed')
    """
).fetchall()


def x(age, side):
    """Return where an age is, in pixels."""
    return EDGE + side * (WIDTH + GAP) + (age - 15) / 76 * WIDTH


def y(education):
    """Return where a level of education is, in pixels."""
    return HEIGHT + EDGE - education / 17 * HEIGHT


dots = [
    f'<circle cx="{x(age, side):.1f}" cy="{y(education):.1f}" r="3" fill="#4a7db8" opacity=".6"/>'
    for side in (0, 1)
    for age, education in people
]
classes = [
    f'<rect x="{x(low, 1) - 5:.1f}" y="{y(most) - 5:.1f}" '
    f'width="{x(high, 1) - x(low, 1) + 10:.1f}" '
    f'height="{y(least) - y(most) + 10:.1f}" rx="4" fill="#e08214" fill-opacity=".12" '
    'stroke="#e08214"/>'
    for low, high, least, most in sorted(boxes)
]
words = [
    f'<text x="{x(15, side)}" y="18" {TEXT}>{title}</text>'
    f'<text x="{x(15, side)}" y="{HEIGHT + EDGE + 20}" {TEXT}>age →, years of education ↑</text>'
    for side, title in enumerate(("200 people", f"released: {len(boxes)} classes of at least 10"))
]
size = f"{2 * (EDGE + WIDTH) + GAP - EDGE + 10} {HEIGHT + EDGE + 30}"
Path("classes.svg").write_text(
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}">\n'
    + "\n".join([*words, *classes, *dots])
    + "\n</svg>\n",
    encoding="utf-8",
)
print(f"classes.svg: {len(people)} people, {len(boxes)} classes")
