"""Two releases of the same people, and what they leave of one of them: python two_releases.py

Writes two_releases.svg, the picture of the page on releasing again, into the present folder. The
boxes are the classes that cover the marked person; below them stands what the person may have.
"""

from pathlib import Path

import anon_sql

WIDTH, HEIGHT, EDGE, GAP = 300, 200, 34, 40
TEXT = 'font-family="sans-serif" font-size="12" fill="#666"'
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
    return EDGE + side * (WIDTH + GAP) + (age - 15) / 68 * WIDTH


def y(weight):
    """Return where a weight is, in pixels."""
    return HEIGHT + EDGE - (weight - 38) / 88 * HEIGHT


dots = [
    f'<circle cx="{x(age, side):.1f}" cy="{y(weight):.1f}" r="2.5" fill="#4a7db8" opacity=".45"/>'
    for side in (0, 1)
    for age, weight in people
]
marked = [
    f'<circle cx="{x(person[0], side):.1f}" cy="{y(person[1]):.1f}" r="5" fill="#c0392b"/>'
    for side in (0, 1)
]
boxes = [
    f'<rect x="{x(low, side) - 4:.1f}" y="{y(most) - 4:.1f}" '
    f'width="{x(high, side) - x(low, side) + 8:.1f}" height="{y(least) - y(most) + 8:.1f}" rx="4" '
    'fill="#e08214" fill-opacity=".15" stroke="#e08214"/>'
    for side, name in enumerate(RELEASES)
    for low, high, least, most, _ in covering(name, person)
]
first, second, both = (", ".join(sorted(each)) for each in left(person))
middle = (2 * (EDGE + WIDTH) + GAP) / 2
words = [
    f'<text x="{x(15, side)}" y="{at}" {TEXT}>{text}</text>'
    for side, texts in enumerate(
        (
            ("the first release", f"leaves {first}"),
            ("the second release", f"leaves {second}"),
        )
    )
    for at, text in zip((18, HEIGHT + EDGE + 22), texts, strict=True)
]
words += [
    f'<text x="{middle}" y="{HEIGHT + EDGE + 48}" {TEXT} text-anchor="middle" font-weight="bold">'
    f"both together leave {both}</text>"
]
size = f"{2 * (EDGE + WIDTH) + GAP - EDGE + 10} {HEIGHT + EDGE + 58}"
Path("two_releases.svg").write_text(
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}">\n'
    + "\n".join([*words, *boxes, *dots, *marked])
    + "\n</svg>\n",
    encoding="utf-8",
)
print(f"two_releases.svg: {first} and {second} leave {both}")
