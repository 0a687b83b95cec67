"""Render the screens: templates, numbers in words, and what to take away."""

import shlex
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment

from anon_sql.apps.cli.console import visible
from anon_sql.apps.report.rendering import environment, figure
from anon_sql.apps.studio.csv_file import DELIMITERS, ENCODINGS, HEADERS, QUOTES, TOTAL, TYPED
from anon_sql.apps.studio.figures import every_row, release_statement
from anon_sql.apps.verdict.words import CONSEQUENCE, percent
from anon_sql.core.names import literal, quote, split
from anon_sql.hosts.recipes import READING, Recipe

SCREENS = {
    "table": "Table",
    "roles": "Roles",
    "protect": "Protect",
    "check": "Check",
    "sign": "Sign",
}
ROLE_NAMES = {
    "identifier": "identifier",
    "quasi": "quasi-identifier",
    "sensitive": "sensitive",
    "keep": "keep",
    "exclude": "leave out",
}
LINKED = {
    "table": "Do other tables refer to this one, such as visits to people?",
    "roles": "In tables that belong together, each table has roles of its own.",
    "protect": "In tables that belong together, k counts people with all their rows.",
    "check": "linked_risk and linked_audit check tables that belong together.",
    "sign": "Tables that belong together are released together, with one manifest.",
}
_NOTATIONS = {
    "decimal": "with the decimal sign",
    "thousands": "with the sign between thousands",
    "date_format": "as dates written",
    "timestamp_format": "as times written",
}
TRANSPARENT = {  # how a release is transparent: the choices, in words
    "": "no limit",
    "groups": "no more than l, t and β allow",
    "size": "only the size that all groups need",
}
SIGNS = {"red": "✗", "amber": "!", "green": "✓", "none": "·"}
_OWN = files("anon_sql") / "apps" / "studio"


@cache
def _environment() -> Environment:
    templates = environment(_OWN / "templates")
    templates.filters |= {
        "visible": visible,
        "percent": share,
        "figure": figure,
        "one_in": one_in,
        "bytes": size,
        "statements": statements,
        "exact": exact,
    }
    templates.globals |= {"screens": SCREENS, "roles": ROLE_NAMES, "signs": SIGNS}
    templates.globals |= {
        "transparent": TRANSPARENT,
        "unread": unread,
        "consequence": CONSEQUENCE,
        "linked": LINKED,
    }
    templates.globals |= {
        "every_row": every_row,
        "dialect": dialect,
        "delimiters": DELIMITERS,
        "quotes": QUOTES,
        "headers": HEADERS,
        "encodings": ENCODINGS,
        "typed": TYPED,
        "total": TOTAL,
    }
    return templates


def render(name: str, **context: Any) -> str:
    """Return the text of a template."""
    return str(_environment().get_template(name).render(**context))


@cache
def asset(name: str) -> bytes | None:
    """Return a style sheet, script or picture; None for any other name."""
    names = {"studio.css", "studio.js", "icon.svg"}
    return (_OWN / "static" / name).read_bytes() if name in names else None


def share(value: float | None) -> str:
    """Return a share in percent, in few letters."""
    return percent(value).replace("less than ", "<").replace("more than ", ">")


def exact(value: Any) -> str:
    """Return a value to its last digit."""
    return "" if value is None else repr(value)


def one_in(share: float | None) -> str:
    """Return a risk as one person in so many."""
    return "-" if not share else f"1 in {1 / share:,.0f}"


def size(count: int | None) -> str:
    """Return a number of bytes in the unit that suits it."""
    if count is None:
        return "-"
    amount, units = float(count), ["bytes", "kB", "MB", "GB", "TB"]
    while amount >= 1000 and len(units) > 1:
        amount, units = amount / 1000, units[1:]
    return f"{amount:,.0f} {units[0]}" if units[0] == "bytes" else f"{amount:,.1f} {units[0]}"


def statements(figures: Iterable[Mapping[str, Any] | None]) -> list[str]:
    """Return the calls that some figures come from, each once, without the column they pick."""
    calls = []
    for each in figures:
        if each is not None:
            _, start, call = each["sql"].partition(" FROM ")
            whole = call.split(" WHERE ")[0] if start and " WHERE " in call else call
            plain = start and "(" in whole.split(" ")[0] and each["sql"].startswith("SELECT ")
            calls.append(f"FROM {whole}" if plain else each["sql"])
    return list(dict.fromkeys(calls))


def away(
    recipe: Recipe,
    trees: Mapping[str, str],
    names: Mapping[str, str],
    relation: Mapping[str, str | None],
) -> dict[str, str]:
    """Return what makes the same release again, by language; each runs as it is copied.

    trees: files of hierarchies by column. names: of the files that are signed. relation: as
    ``StudioSource.relation`` returns it. Without a name and a call only the command reads the
    source.
    """
    written, out = shlex.quote(names["recipe"]), shlex.quote(names["release"])
    stem, dot, ending = names["release"].partition(".")
    again = shlex.quote(f"{stem}.again{dot}{ending}")
    ways = {"Command": f"anon-sql release {written} {again}"}
    lines, table = [], relation["name"]
    if recipe.table is not None and not recipe.source.get("trim"):
        alias = recipe.file.stem
        lines.append(f"ATTACH {literal(recipe.source['database'])} AS {quote(alias)} (READ_ONLY);")
        table = ".".join(map(quote, [alias, *split(recipe.table)]))
    elif relation["call"]:
        table = "raw"
        lines.append(f"CREATE TABLE raw AS FROM {relation['call']};")
    if table is not None:
        if trees:
            paths = ", ".join(map(literal, trees.values()))
            lines.append(f"CREATE TABLE hierarchy AS FROM read_hierarchies([{paths}]);")
        call = release_statement(recipe, table)
        sql = "\n".join([*lines, f"CREATE TABLE released AS {call};"])
        plain = '"""' not in sql and "\\" not in sql and not sql.endswith('"')
        text = f'"""\n{sql}\n"""' if plain else repr(sql)
        python = f"import anon_sql\n\ncon = anon_sql.connect()\ncon.execute({text})"
        by = f"anonymize_recipe({literal(names['recipe'])})"
        ways |= {"SQL": sql, "Python": python}
        if not relation["call"] and not set(READING) & set(recipe.source):
            ways["dbt"] = f"select * from {by}"
    return {**ways, "Check it": f"anon-sql verify {out} --recipe {written}"}


def unread(left: int, columns: int) -> str:
    """Return how many roles are not confirmed yet, in words."""
    if not left:
        return "All roles are confirmed."
    return f"{left:,} of {columns:,} roles are not confirmed yet."


def dialect(written: Mapping[str, Any]) -> dict[str, str]:
    """Return how a CSV file is read, in words by field. written: as ``described`` returns it."""
    nulls = " and ".join(text or "an empty field" for text in written["nulls"])
    return {
        "delimiter": DELIMITERS.get(written["delimiter"], written["delimiter"]),
        "quote": QUOTES.get(written["quote"], written["quote"]),
        "header": HEADERS["no" if written["header"] is False else "yes"],
        "encoding": ENCODINGS.get(written["encoding"], written["encoding"]),
        "null": nulls,
        "typed": ", ".join(
            f"{column or 'all columns'} {_NOTATIONS[name]} {value}"
            for name, column, value in written["notations"]
        ),
    }
