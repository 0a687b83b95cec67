"""Two releases of the same people, and what they leave of one of them: python two_releases.py

Writes two_releases.svg, the picture of the pages on releasing again, into the present folder. The
boxes are the classes that cover the person; the table below shows which illnesses they leave.
"""

from pathlib import Path

import anon_sql

WIDTH, HEIGHT, LEFT, TOP, GAP = 300, 200, 52, 34, 66
BOX, PERSON, INK, LINE = (
    "#D55E00",
    "#0072B2",
    "#222",
    "#999",
)  # differ in print, too
RELEASES = ("first", "second")

con = anon_sql.connect()
con.execute(
    """
    CREATE TABLE people AS
    SELECT
        18 + i * 37 % 61 AS age, 40 + i * i * 7 % 83 AS weight,
        ['asthma', 'cancer', 'flu', 'gout', 'none'][1 + i * i * 13 // 11 % 5] AS illness
    FROM range(200) AS made(i)
    """
)
for seed, name in enumerate(RELEASES, start=2):
    con.execute(
        f"CREATE TABLE {name} AS FROM rayden('people', k := 3, quasi := ['age', 'weight'], "
        f"sensitive := ['illness'], seed := {seed}, format := 'typed')"
    )
people = con.sql("SELECT age, weight FROM people").fetchall()


def covering(name, person):
    """Return the classes of a release that cover a person, each its ends and its illnesses."""
    return con.execute(
        f"SELECT age.min, age.max, weight.min, weight.max, list(DISTINCT illness) FROM {name} "
        "WHERE $age BETWEEN age.min AND age.max AND $weight BETWEEN weight.min AND weight.max "
        "GROUP BY ALL ORDER BY ALL",
        dict(zip(("age", "weight"), person, strict=True)),
    ).fetchall()


def possible(name, person):
    """Return the illnesses that a release leaves for a person."""
    return {illness for *_, held in covering(name, person) for illness in held}


def left(person):
    """Return what each release leaves, and what both leave together."""
    alone = [possible(name, person) for name in RELEASES]
    return [*alone, set.intersection(*alone)]


person = next(one for one in people if [len(each) for each in left(one)] == [3, 3, 1])


def x(age, side):
    """Return where an age is, in pixels."""
    return LEFT + side * (WIDTH + GAP) + (age - 15) / 68 * WIDTH


def y(weight):
    """Return where a weight is, in pixels."""
    return TOP + HEIGHT - (weight - 36) / 90 * HEIGHT


def text(across, down, words, **style):
    """Return a text of the picture."""
    more = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in style.items())
    return f'<text x="{across:.1f}" y="{down:.1f}"{more}>{words}</text>'


def axes(side, title):
    """Return the title, the frame, the ticks and the names of the axes of one side."""
    yield text(x(15, side), 18, title, font_size=14, font_weight="bold")
    yield (
        f'<rect x="{x(15, side)}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" '
        f'stroke="{LINE}"/>'
    )
    for age in range(20, 81, 10):
        yield text(x(age, side), TOP + HEIGHT + 16, age, text_anchor="middle")
    for weight in range(40, 121, 20):
        yield text(x(15, side) - 6, y(weight) + 4, weight, text_anchor="end")
    yield text(x(49, side), TOP + HEIGHT + 34, "age in years", text_anchor="middle")
    left, middle = x(15, side) - 36, TOP + HEIGHT / 2
    turned = f"rotate(-90 {left:.1f} {middle})"
    yield text(left, middle, "weight in kg", text_anchor="middle", transform=turned)


def shown(side, name):
    """Return the classes of a release that cover the person, and the person."""
    for low, high, least, most, _ in covering(name, person):
        yield (
            f'<rect x="{x(low, side) - 4:.1f}" y="{y(most) - 4:.1f}" '
            f'width="{x(high, side) - x(low, side) + 8:.1f}" '
            f'height="{y(least) - y(most) + 8:.1f}" rx="3" fill="{BOX}" fill-opacity=".15" '
            f'stroke="{BOX}" stroke-width="1.5"/>'
        )
    yield f'<circle cx="{x(person[0], side):.1f}" cy="{y(person[1]):.1f}" r="5" fill="{PERSON}"/>'


def row(down, title, values, weight="normal"):
    """Return a row of the table: a filled cell for each illness that is possible."""
    yield text(LEFT, down + 15, title, font_weight=weight)
    for place, illness in enumerate(ILLNESSES):
        left = TABLE + place * CELL
        possible = illness in values
        fill, words = (BOX, "possible") if possible else ("none", "no")
        yield (
            f'<rect x="{left}" y="{down}" width="{CELL - 4}" height="22" rx="3" fill="{fill}" '
            f'fill-opacity=".3" stroke="{BOX if possible else LINE}"/>'
        )
        yield text(left + CELL / 2 - 2, down + 15, words, text_anchor="middle", font_weight=weight)


ILLNESSES = ("asthma", "cancer", "flu", "gout", "none")
TABLE, CELL = LEFT + 156, 84
legend = TOP + HEIGHT + 56
top = legend + 38
alone = left(person)
first, second, both = (", ".join(sorted(values)) for values in alone)
sides = ("The first release", "The second release")
parts = [
    *(part for side, title in enumerate(sides) for part in axes(side, title)),
    *(part for side, name in enumerate(RELEASES) for part in shown(side, name)),
    f'<circle cx="{LEFT + 5}" cy="{legend - 4}" r="5" fill="{PERSON}"/>',
    text(LEFT + 16, legend, "the person, whose age and weight the attacker knows"),
    f'<rect x="{x(15, 1)}" y="{legend - 11}" width="18" height="13" rx="3" fill="{BOX}" '
    f'fill-opacity=".15" stroke="{BOX}" stroke-width="1.5"/>',
    text(x(15, 1) + 26, legend, "a class that covers the person"),
    text(LEFT, top - 6, "The person's illness"),
    *(
        text(TABLE + place * CELL + CELL / 2 - 2, top - 6, illness, text_anchor="middle")
        for place, illness in enumerate(ILLNESSES)
    ),
    *row(top, "by the first release", alone[0]),
    *row(top + 26, "by the second release", alone[1]),
    *row(top + 52, "by both", alone[2], "bold"),
    text(LEFT, top + 96, f"Both together leave {both}.", font_weight="bold"),
]
size = f"{LEFT + 2 * WIDTH + GAP + 14} {top + 108}"
Path("two_releases.svg").write_text(
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" '
    f'font-family="system-ui, sans-serif" font-size="12" fill="{INK}">\n'
    '<rect width="100%" height="100%" rx="6" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n",
    encoding="utf-8",
)
print(f"two_releases.svg: {first} and {second} leave {both}")
