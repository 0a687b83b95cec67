"""Generated hierarchies of random columns and parameters: trees whose labels are true."""

import re
from decimal import Decimal
from random import Random

import pytest

pytestmark = [pytest.mark.quick, pytest.mark.oldest]

KINDS = ["TINYINT", "INTEGER", "UBIGINT", "HUGEINT", "DECIMAL(9, 3)", "FLOAT", "DOUBLE"]
TIMES = ["DATE", "TIMESTAMP", "TIMESTAMPTZ", "VARCHAR"]
LEVELS = ["day", "month", "quarter", "year", "decade", "century"]
ROWS, COLUMNS = 30, 20  # of a table


def numbers(draw):
    """Values, the SQL of a column of them, and of a call; what must hold of a value and a label."""
    kind = draw.choice(KINDS)
    digits = draw.randrange(4) if kind in KINDS[4:] else 0
    low = 0 if kind.startswith("U") else -100
    values = [f"{draw.uniform(low, 100):.{draw.randrange(digits + 1)}f}" for _ in range(ROWS)]
    widths = [Decimal(draw.randint(1, 60)).scaleb(-draw.randrange(4))]
    for _ in range(draw.randrange(3)):
        widths.append(widths[-1] * draw.randint(2, 9))
    written = ", ".join(f"{width}{draw.choice(['', 'e0'])}" for width in widths)

    def true(value, level, label):
        below = " to below " in label
        low, high = map(Decimal, label.split(" to below " if below else " to "))
        assert high - low + (not below) == widths[level - 1]
        assert low <= Decimal(value) < low + widths[level - 1]
        assert low % widths[level - 1] == 0
        assert max(len(part) for part in re.findall(r"\.(\d+)|$", label)) <= 3

    return values, f"x::{kind}", f"numeric_hierarchy('t', '{{}}', widths := [{written}])", true


def days(draw):
    levels = sorted(draw.sample(LEVELS, draw.randint(1, 6)), key=LEVELS.index)
    values = [draw.randrange(-750_000, 60_000) for _ in range(ROWS - 3)]  # since 1970
    values += range(first := draw.randrange(10_956, 11_323), first + 3)  # of 2000

    def true(value, level, label):
        assert ("(BC)" in value) == ("(BC)" in label)
        year, ends = int(value.split("-")[0]), [int(end) for end in re.findall(r"\d+", label)]
        last = {"decade": ends[0] + 9, "century": ends[-1]}.get(levels[level - 1], ends[0])
        assert ends[0] <= year <= last

    column = f"(DATE '1970-01-01' + x::INTEGER)::{draw.choice(TIMES)}"
    return [*map(str, values)], column, f"date_hierarchy('t', '{{}}', {levels})", true


def codes(draw):
    values = ["".join(draw.choices("ab é", k=draw.randrange(7))) for _ in range(ROWS)]
    lengths = sorted(draw.sample(range(1, 8), draw.randint(1, 4)), reverse=True)

    def true(value, _level, label):
        assert len(label) - 1 in lengths
        assert value.startswith(label[:-1])

    return values, "x", f"prefix_hierarchy('t', '{{}}', {lengths})", true


@pytest.mark.parametrize("tables", [1, pytest.param(50, marks=pytest.mark.slow)])
def test_what_the_generators_make_is_a_tree_of_true_labels(con, tables):
    for seed in range(tables):
        draw = Random(seed)
        drawn = {f"c{at}": (numbers, days, codes)[at % 3](draw) for at in range(COLUMNS)}
        columns = ", ".join(
            f"{column.replace('x', f'x[{at}]', 1)} AS {name}"
            for at, (name, (_, column, _, _)) in enumerate(drawn.items(), 1)
        )
        rows = [*map(list, zip(*(values for values, *_ in drawn.values()), strict=True))]
        con.execute(
            f"CREATE OR REPLACE TABLE t AS SELECT {columns} FROM unnest($1) AS u(x)", [rows]
        )
        calls = [f"FROM {call.format(name)}" for name, (_, _, call, _) in drawn.items()]
        con.execute(f"CREATE OR REPLACE TABLE h AS {' UNION ALL '.join(calls)}")
        assert con.execute("FROM check_hierarchy('t', 'h')").fetchall() == [], (seed, calls)
        for name, value, level, label in con.execute("FROM h WHERE label <> '*'").fetchall():
            drawn[name][3](value, level, label)
