"""Draw the gallery of the site: pictures of real calls, each with its SQL.

A picture is drawn from the rows of its query. The first column is where a mark stands, each other
column is a series. Colors differ for the color-blind and in print, and the ground is white, so that
a picture is readable on a dark page.
"""

from collections.abc import Mapping
from io import StringIO
from typing import Any, Literal, NamedTuple

import matplotlib as mpl
from duckdb import DuckDBPyConnection
from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"]
HATCHES, DASHES, MARKS = ["", "//", "..", "xx"], ["-", "--", ":", "-."], "osD^"
STYLE: Mapping[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "anon-sql",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "hatch.linewidth": 0.6,
}


class Picture(NamedTuple):
    """A picture: its name and title, the query of its rows, and the names of its axes.

    says: what a reader sees in it; kind: how rows are drawn.
    """

    name: str
    title: str
    says: str
    kind: Literal["bars", "lines", "points"]
    across: str
    up: str
    sql: str


def _by_k(name: str, title: str, says: str, up: str, measure: str) -> Picture:
    """Return the picture of a measure of ``tradeoff``: a line for k alone, and one for l = 2."""
    sql = f"""\
SELECT k, any_value({measure}) FILTER (l = 1) AS "k alone",
    any_value({measure}) FILTER (l = 2) AS "with l = 2"
FROM tried GROUP BY k ORDER BY k;"""
    return Picture(name, title, says, "lines", "k", up, sql)


ROWS = 4_000
SETUP = """\
CREATE TABLE released AS FROM anonymize('adult', k := 10);
CREATE TABLE diverse AS FROM anonymize('adult', k := 10, l := 2);
CREATE TABLE near AS FROM anonymize('adult', k := 10, l := 2, t := 0.3);
CREATE TABLE in_bins AS FROM anonymize('adult', k := 10, bin_width := MAP {'age': 5});
CREATE TABLE tried AS FROM tradeoff('adult', ks := [5, 10, 20, 50], ls := [1, 2]);
CREATE TABLE methods AS
FROM compare('adult', ks := [5, 10, 20],
    methods := ['anonymize', 'mondrian', 'rayden', 'top_down']);
"""
PICTURES = (
    Picture(
        "unique",
        "Columns that single people out",
        "The share of the rows that a column makes unique when it joins all other columns.",
        "bars",
        "column",
        "share of the rows",
        """\
SELECT column_name, adds_share
FROM suggest_roles('adult') WHERE role = 'quasi' ORDER BY adds_share DESC;""",
    ),
    Picture(
        "classes",
        "Equivalence classes by their size",
        "Most classes have exactly k = 10 rows.",
        "bars",
        "rows in the class",
        "classes",
        """\
SELECT size, count(*) AS classes FROM equivalence_classes('adult', 'released')
WHERE size <= 20 GROUP BY size ORDER BY size;""",
    ),
    Picture(
        "columns",
        "Loss per column",
        "Columns that vary most lose most.",
        "bars",
        "quasi-identifier",
        "NCP, 0 to 1",
        "FROM attribute_loss('adult', 'released') ORDER BY ncp DESC;",
    ),
    _by_k(
        "k",
        "Loss by k",
        "A larger k costs detail. l = 2 costs more at a small k.",
        "GCP, 0 to 1",
        "gcp",
    ),
    _by_k(
        "queries",
        "Error of counts by k",
        "Counts over two columns become less exact as k grows.",
        "mean relative error",
        "query_error",
    ),
    _by_k(
        "exposed",
        "Rows in classes with one sensitive value",
        "k alone leaves many rows in classes with one income. l = 2 leaves none.",
        "share of the rows",
        "exposed_share",
    ),
    Picture(
        "methods",
        "Loss by method",
        "anonymize searches for the least loss; the other methods cut by a rule.",
        "lines",
        "k",
        "GCP, 0 to 1",
        """\
PIVOT (SELECT k, method, gcp FROM methods) ON method USING any_value(gcp) GROUP BY k ORDER BY k;""",
    ),
    Picture(
        "risk",
        "People that an attacker finds",
        "The attacker knows all quasi-identifiers. A row at risk shares them with few others.",
        "bars",
        "rows that share the values",
        "rows at risk",
        """\
SELECT 'fewer than 2' AS sharing, raw.prosecutor_at_risk AS raw_table,
    released.prosecutor_at_risk AS released
FROM risk('adult', 'adult', threshold := 0.5) AS raw,
    risk('adult', 'released', threshold := 0.5) AS released
UNION ALL SELECT 'fewer than 5', raw.prosecutor_at_risk, released.prosecutor_at_risk
FROM risk('adult', 'adult', threshold := 0.2) AS raw,
    risk('adult', 'released', threshold := 0.2) AS released
UNION ALL SELECT 'fewer than 12', raw.prosecutor_at_risk, released.prosecutor_at_risk
FROM risk('adult', 'adult', threshold := 0.084) AS raw,
    risk('adult', 'released', threshold := 0.084) AS released;""",
    ),
    Picture(
        "inference",
        "What a class discloses",
        "With l = 2 no value is certain, but one may fill nearly all of a class. t prevents that.",
        "bars",
        "release",
        "share of the rows",
        """\
SELECT 'k = 10' AS release, certain_share AS certain, inferred_share AS inferred
FROM attack_inference('adult', 'released')
UNION ALL SELECT 'and l = 2', certain_share, inferred_share
FROM attack_inference('adult', 'diverse')
UNION ALL SELECT 'and t = 0.3', certain_share, inferred_share
FROM attack_inference('adult', 'near');""",
    ),
    Picture(
        "ends",
        "Different ages that the labels show",
        "Ranges end at ages of people. Bins of five years end at the same ages for everyone.",
        "bars",
        "release",
        "different ages",
        """\
SELECT 'ranges' AS release, count(*) AS ages
FROM (SELECT anon_min(age) FROM released UNION SELECT anon_max(age) FROM released)
UNION ALL SELECT 'bins of 5 years', count(*)
FROM (SELECT anon_min(age) FROM in_bins UNION SELECT anon_max(age) FROM in_bins);""",
    ),
    Picture(
        "ages",
        "Ages before and after",
        "The middles of the ranges follow the ages of the raw table.",
        "bars",
        "age, by decade",
        "rows",
        """\
WITH ages AS (
    SELECT age AS years, 'raw' AS source FROM adult
    UNION ALL SELECT anon_mid(age), 'middle' FROM released)
SELECT floor(years / 10)::INTEGER * 10 AS decade, count(*) FILTER (source = 'raw') AS raw,
    count(*) FILTER (source = 'middle') AS middle_of_range
FROM ages GROUP BY decade ORDER BY decade;""",
    ),
    Picture(
        "widths",
        "Ranges of ages by their middle",
        "Each point is a range that a class shows. Ranges are wide where people of an age are few.",
        "points",
        "middle of the range of ages",
        "width of the range in years",
        """\
SELECT anon_mid(age) AS middle, any_value(anon_max(age)::INTEGER - anon_min(age)::INTEGER) AS width
FROM released GROUP BY age ORDER BY middle;""",
    ),
)


def draw(con: DuckDBPyConnection, picture: Picture) -> str:
    """Return a picture as SVG, drawn from the rows of its query."""
    result = con.execute(picture.sql)
    names = [column[0] for column in result.description or ()]
    rows = result.fetchall()
    with mpl.rc_context(dict(STYLE)):
        figure = Figure(figsize=(6.4, 3.4), layout="constrained")
        axes = figure.subplots()
        _marks(
            axes,
            picture.kind,
            [row[0] for row in rows],
            dict(zip(names[1:], _series(rows), strict=True)),
        )
        axes.set_title(picture.title, loc="left", fontweight="bold")
        axes.set_xlabel(picture.across)
        axes.set_ylabel(picture.up)
        axes.set_ylim(bottom=0)
        if len(names) > 2:
            axes.legend(frameon=False)
        out = StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


def _series(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return list(zip(*(row[1:] for row in rows), strict=True))


def _marks(axes: Axes, kind: str, places: list[Any], series: Mapping[str, tuple[Any, ...]]) -> None:
    """Draw the series of a picture, which differ in color and in form."""
    for number, (name, values) in enumerate(series.items()):
        color, label = COLORS[number % len(COLORS)], name.replace("_", " ")
        if kind == "bars":
            width = 0.8 / len(series)
            left = [
                place + (number - (len(series) - 1) / 2) * width for place in range(len(places))
            ]
            bars: dict[str, Any] = {
                "color": color,
                "hatch": HATCHES[number % len(HATCHES)],
                "edgecolor": "white",
            }
            axes.bar(left, values, width, label=label, **bars)
        elif kind == "lines":
            form: dict[str, Any] = {
                "linestyle": DASHES[number % len(DASHES)],
                "marker": MARKS[number % len(MARKS)],
            }
            axes.plot(places, values, color=color, label=label, **form)
        else:
            axes.scatter(places, values, s=14, color=color, label=label, alpha=0.6)
    if kind == "bars":
        turned: Mapping[str, Any] = {"rotation": 30, "ha": "right"} if len(str(places)) > 60 else {}
        axes.set_xticks(range(len(places)), [str(place) for place in places], **turned)


def page() -> str:
    """Return the page of the gallery: every picture with its query."""
    parts = [
        "# Gallery",
        "Twelve pictures of what the functions return. Each is drawn from the rows of the query\n"
        f"below it, on {ROWS:,} synthetic records that resemble the census extract Adult.",
        "```python\nimport anon_sql\nfrom anon_sql import datasets\n\ncon = anon_sql.connect()\n"
        f"datasets.adult(con, {ROWS:_})\n```",
        f"```sql\n{SETUP}```",
    ]
    for picture in PICTURES:
        image = f"![{picture.title}](gallery/{picture.name}.svg)"
        parts += [f"## {picture.title}", picture.says, image, f"```sql\n{picture.sql}\n```"]
    return "\n\n".join(parts) + "\n"


def pictures(con: DuckDBPyConnection) -> dict[str, str]:
    """Return the pictures as SVG by name, on a connection with the table adult."""
    con.execute(SETUP)
    return {picture.name: draw(con, picture) for picture in PICTURES}
