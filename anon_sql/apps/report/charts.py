"""Draw charts with matplotlib, as SVG.

A page shows each in a ``data:`` address: an image of its own keeps its ids apart from those of
other charts. Text stays text, small and sharp; the two series differ in hatching too, for those who
print in black.
"""

import warnings
from collections.abc import Sequence
from io import BytesIO
from itertools import product
from math import isnan
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from anon_sql.apps.verdict.words import percent

RAW, RELEASED, INK = "#3b6ea5", "#e69f00", "#333333"
LINES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"]
DASHES, MARKS = ["-", "--", ":", "-."], "osD^vPX*<>"
WIDTH, TICKS, WORD = 4.6, 8, 24  # inches; labels on an axis; characters of a label
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "anon-sql",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "hatch.linewidth": 0.6,
}


def sizes(labels: Sequence[str], counts: Sequence[int]) -> str:
    """Draw the classes by their size, in steps of size."""
    with mpl.rc_context(_STYLE):
        figure, axes = _figure(2.6)
        bars = axes.bar(range(len(counts)), counts, color=RAW)
        axes.bar_label(bars, [f"{count:,}" if count else "" for count in counts], fontsize=8)
        grows = any("to" in label for label in labels)
        turned: dict[str, Any] = {"rotation": 40, "ha": "right"} if grows else {}
        axes.set_xticks(range(len(labels)), labels, fontsize=9, **turned)
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.margins(y=0.12)
        axes.set_xlabel("rows in the group" + (", steps on a log scale" if grows else ""))
        axes.set_ylabel("groups")
        return _svg(figure)


def risks(labels: Sequence[str], shares: Sequence[float]) -> str:
    """Draw the share of rows at risk above each threshold as bars from 0 to 100%."""
    with mpl.rc_context(_STYLE):
        figure, axes = _figure(0.9 + 0.32 * len(labels))
        bars = axes.barh(range(len(shares)), [100 * share for share in shares], color=RELEASED)
        axes.bar_label(bars, [percent(share) for share in shares], padding=3)
        _words(axes, labels)
        axes.set_xlim(0, 112)
        axes.set_xticks([0, 25, 50, 75, 100])
        axes.set_xlabel("rows at higher risk, %")
        return _svg(figure)


def correlation(columns: Sequence[str], matrix: Sequence[Sequence[float]]) -> str:
    """Draw a matrix of coefficients, -1 to 1; nan where there is none.

    The coefficients are written in the cells, so that no colour has to be read.
    """
    with mpl.rc_context(_STYLE):
        size = len(columns)
        figure, axes = _figure(1.2 + 0.4 * size)
        axes.imshow(matrix, cmap="PuOr", vmin=-1.6, vmax=1.6, aspect="auto")
        names = [_cut(name) for name in columns]
        axes.set_xticks(range(size), names, rotation=40, ha="right", fontsize=9)
        axes.set_yticks(range(size), names, fontsize=9)
        for row, col in product(range(size), range(size)):
            value = matrix[row][col]
            text = "-" if isnan(value) else f"{round(value, 2) + 0.0:.2f}"
            axes.text(col, row, text, ha="center", va="center", fontsize=8)
        return _svg(figure)


def loss(names: Sequence[str], shares: Sequence[float]) -> str:
    """Draw the loss of each column as a bar from 0 to 1."""
    with mpl.rc_context(_STYLE):
        figure, axes = _figure(0.7 + 0.3 * len(names))
        bars = axes.barh(range(len(names)), shares, color=RAW)
        axes.bar_label(bars, fmt="{:.3g}", padding=3)
        _words(axes, names)
        axes.set_xlim(0, 1)
        axes.set_xlabel("share of its detail lost")
        return _svg(figure)


def pair(
    labels: Sequence[str], raw: Sequence[float], released: Sequence[float], ordered: bool
) -> str:
    """Draw the rows of the raw table and of the release, bin by bin."""
    with mpl.rc_context(_STYLE):
        places = range(len(labels))
        sides = [place - 0.2 for place in places], [place + 0.2 for place in places]
        released_style: dict[str, Any] = {
            "color": RELEASED,
            "hatch": "////",
            "edgecolor": "white",
            "linewidth": 0,
        }
        if ordered:
            figure, axes = _figure(2.6)
            axes.bar(sides[0], raw, 0.4, color=RAW, label="raw")
            axes.bar(sides[1], released, 0.4, label="released", **released_style)
            _ticks(axes, labels)
            axes.set_ylabel("rows")
        else:
            figure, axes = _figure(1.1 + 0.3 * len(labels))
            axes.barh(sides[0], raw, 0.4, color=RAW, label="raw")
            axes.barh(sides[1], released, 0.4, label="released", **released_style)
            _words(axes, labels)
            axes.set_xlabel("rows")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside upper left", ncols=2)
        return _svg(figure)


def _method(number: int, name: str) -> dict[str, Any]:
    """Return the style of the line of a method, the same in every chart of a page."""
    return {
        "label": _cut(name),
        "color": LINES[number % len(LINES)],
        "linestyle": DASHES[number % len(DASHES)],
        "marker": MARKS[number % len(MARKS)],
        "markersize": 5,
    }


def curves(
    series: Sequence[tuple[str, Sequence[int], Sequence[float]]], measure: str, *, log: bool
) -> str:
    """Draw a line over k for each method."""
    with mpl.rc_context(_STYLE):
        figure, axes = _figure(3.4)
        for number, (name, ks, values) in enumerate(series):
            axes.plot(
                ks,
                values,
                **_method(number, name),
            )
        all_ks = sorted({k for _, ks, _ in series for k in ks})
        axes.set_xscale("log")
        axes.set_xticks(all_ks, [str(k) for k in all_ks])
        axes.minorticks_off()
        if log:
            axes.set_yscale("log")
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_locator(NullLocator())
        else:
            axes.set_ylim(bottom=0)
        axes.set_xlabel("k")
        axes.set_ylabel(measure)
        figure.legend(loc="outside upper left", ncols=3, fontsize=9)
        return _svg(figure)


def risk_and_loss(
    series: Sequence[tuple[str, Sequence[int], Sequence[float], Sequence[float]]], risk: str
) -> str:
    """Draw a point for each method and k: loss to the right, risk upwards.

    series: a method, its ks, and the loss and the risk of each. The points of a method are joined
    in the order of k; k stands beside those of the method of least loss.
    """
    with mpl.rc_context(_STYLE):
        figure, axes = _figure(3.6)
        for number, (name, _, losses, risks_) in enumerate(series):
            axes.plot(
                losses,
                risks_,
                linewidth=0.8,
                **_method(number, name),
            )
        _, ks, losses, risks_ = min(series, key=lambda each: sum(each[2]) / len(each[2]))
        for k, place in zip(ks, zip(losses, risks_, strict=True), strict=True):
            axes.annotate(
                f"k={k}", place, xytext=(-6, -3), textcoords="offset points", ha="right", fontsize=8
            )
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("loss (gcp)")
        axes.set_ylabel(risk)
        figure.legend(loc="outside upper left", ncols=3, fontsize=9)
        return _svg(figure)


def _figure(height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    return figure, figure.subplots()


def _ticks(axes: Axes, labels: Sequence[str]) -> None:
    """Set labels below bars, only some of them where they are many or long."""
    most = TICKS if max(map(len, labels)) <= 6 else TICKS // 2
    step = -(-len(labels) // most)
    places = range(0, len(labels), step)
    axes.set_xticks(list(places), [_cut(labels[place]) for place in places])


def _words(axes: Axes, labels: Sequence[str]) -> None:
    """Set labels beside bars, the first on top."""
    axes.set_yticks(range(len(labels)), [_cut(label) for label in labels])
    axes.invert_yaxis()


def _cut(label: str) -> str:
    """Return a label of printable characters, cut to WORD characters."""
    text = "".join(c if c.isprintable() else "?" for c in label)
    return text if len(text) <= WORD else text[: WORD - 1] + "…"


def _svg(figure: Figure) -> str:
    out = BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # the reader's font has it
        figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue().decode()
