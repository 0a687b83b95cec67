"""Two hundred people as dots, and the classes of their release as boxes: python picture.py

Writes classes.svg, the picture of the README, into the present folder. Only the raw table
shows dots: a release shows the boxes, and how many people each of them holds.
"""

from pathlib import Path

import anon_sql
from anon_sql import datasets

WIDTH, HEIGHT, LEFT, TOP, GAP = 330, 250, 52, 34, 66
POINT, BOX, INK, LINE = (
    "#0072B2",
    "#D55E00",
    "#222",
    "#999",
)  # differ in print, too

con = anon_sql.connect()
datasets.adult(con, 200, roles=False)
con.execute("CREATE TABLE people AS SELECT age, education_num AS education, income FROM adult")
people = con.sql("SELECT age, education FROM people").fetchall()
classes = con.sql(
    """
    SELECT age.min, age.max, education.min, education.max, count(*)
    FROM anonymize('people', k := 10, quasi := ['age', 'education'], sensitive := 'income',
        format := 'typed')
    GROUP BY ALL ORDER BY ALL
    """
).fetchall()


def x(age, side):
    """Return where an age is, in pixels."""
    return LEFT + side * (WIDTH + GAP) + (age - 14) / 78 * WIDTH


def y(education):
    """Return where a number of years of education is, in pixels."""
    return TOP + HEIGHT - education / 17 * HEIGHT


def text(across, down, words, size=12, **style):
    """Return a text of the picture."""
    more = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in style.items())
    return f'<text x="{across:.1f}" y="{down:.1f}" font-size="{size}"{more}>{words}</text>'


def axes(side, title):
    """Return the title, the frame, the ticks and the names of the axes of one side."""
    yield text(x(14, side), 18, title, 14, font_weight="bold")
    yield (
        f'<rect x="{x(14, side)}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" '
        f'stroke="{LINE}"/>'
    )
    for age in range(20, 91, 10):
        yield text(x(age, side), TOP + HEIGHT + 16, age, text_anchor="middle")
    for years in range(0, 17, 4):
        yield text(x(14, side) - 6, y(years) + 4, years, text_anchor="end")
    middle = x(14, side) - 30
    yield text(x(53, side), TOP + HEIGHT + 34, "age in years", text_anchor="middle")
    turned = f"rotate(-90 {middle:.1f} {TOP + HEIGHT / 2})"
    across = {"text_anchor": "middle", "transform": turned}
    yield text(middle, TOP + HEIGHT / 2, "years of education", **across)


def box(low, high, least, most, number):
    """Return a class as a box, with the number of its people."""
    left, top = x(low, 1) - 4, y(most) - 4
    width, height = x(high, 1) - x(low, 1) + 8, y(least) - y(most) + 8
    yield (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" rx="3" '
        f'fill="{BOX}" fill-opacity=".13" stroke="{BOX}" stroke-width="1.5"/>'
    )
    yield text(left + width / 2, top + height / 2 + 4, number, 11, text_anchor="middle")


legend = TOP + HEIGHT + 56
parts = [
    *axes(0, f"Raw table: {len(people)} people"),
    *axes(1, f"Released: {len(classes)} classes of at least 10 people"),
    *(
        f'<circle cx="{x(age, 0):.1f}" cy="{y(years):.1f}" r="3" fill="{POINT}" opacity=".6"/>'
        for age, years in people
    ),
    *(part for one in classes for part in box(*one)),
    f'<circle cx="{LEFT + 5}" cy="{legend - 4}" r="3" fill="{POINT}"/>',
    text(LEFT + 16, legend, "one person, with exact values"),
    f'<rect x="{x(14, 1)}" y="{legend - 11}" width="18" height="13" rx="3" fill="{BOX}" '
    f'fill-opacity=".13" stroke="{BOX}" stroke-width="1.5"/>',
    text(x(14, 1) + 26, legend, "one class: its ranges, and its number of people"),
]
size = f"{LEFT + 2 * WIDTH + GAP + 14} {legend + 12}"
Path("classes.svg").write_text(
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" '
    f'font-family="system-ui, sans-serif" fill="{INK}">\n'
    '<rect width="100%" height="100%" rx="6" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n",
    encoding="utf-8",
)
print(f"classes.svg: {len(people)} people, {len(classes)} classes")
