"""Gather what a report says of tables that belong together, and render its page."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

from anon_sql.apps.cli.linked import checks_of, opened, source_of, verdict_of
from anon_sql.apps.linked_checks import FILES, missing, tables_of, view_of
from anon_sql.apps.manifest import STATEMENT
from anon_sql.apps.report.rendering import render
from anon_sql.apps.verdict.linked_tables import LinkedTables
from anon_sql.apps.verdict.of_recipe import stated
from anon_sql.apps.verdict.words import NOT_COVERED
from anon_sql.core.names import quote
from anon_sql.hosts.duckdb.linked_folds import Folds, risk
from anon_sql.hosts.files import digest
from anon_sql.hosts.recipes import is_recipe, read_recipe
from anon_sql.hosts.statements import PLACES, review_in_words
from anon_sql.linked.schema import ROWS, WEIGHT, Node, Schema

_STEPS = (0, 1, 2, 5, 10, 20, 50, 100)  # numbers of rows a person up to which a line counts


def gather(
    written: Mapping[str, Any], folder: Path, raw: Path, hierarchy: Path | None = None
) -> dict[str, Any]:
    """Return the facts of a report.

    written: the manifest. folder: of the released files. raw: a database or a folder of files, or
    the recipe that names it. hierarchy: a file or folder of those that the release was made with.
    """
    recipe, raw = raw, source_of("report", raw)
    by = read_recipe("report", recipe, linked=True) if is_recipe(recipe) else None
    checks = [
        {"property": each.what, "state": each.word, "passed": each.holds, "found": each.finding}
        for each in checks_of(written, folder, raw, hierarchy, by, function="report", called="RAW")
    ]
    failed = [str(each["property"]) for each in checks if each["passed"] is False]
    k, least = (written["parameters"][name] for name in ("k", "l"))
    facts = {
        "verdict": verdict_of(written, folder, failed, recipe, []).facts(),
        "failed": failed,
        **{n: written[n] for n in ("root", "parameters", "persons", "classes", "smallest_class")},
        "statement": {**dict.fromkeys(STATEMENT), **written.get("statement", {})},
        "promised": [f"k = {k}", *([f"l = {least}"] if least > 1 else [])],
        "raw_files": _digests(raw),
        "released_files": written["output"]["files"],
        "recipe_sha256": (written.get("recipe") or {}).get("sha256"),
        "made": written["versions"],
        "not_covered": list(NOT_COVERED),
        "links": written["links"],
        "references": written["references"],
        "checks": checks,
        "tables": [{"table": name, **each} for name, each in written["tables"].items()],
        "risk": [],
        "lost": [],
        "names": {"raw": raw.name, "released": folder.name},
    }
    if len(checks) <= FILES:
        return facts  # the files are not those of the manifest, and nothing else was looked at
    with opened("report", "RAW", raw) as con:
        if missing(con, written, quote):
            return facts
        schema = tables_of(con, written, folder, quote, None).schema
        k = written["parameters"]["k"]
        figures = list(LinkedTables(con, schema, quote, view_of, k).figures())
        facts["verdict"] = verdict_of(written, folder, failed, recipe, figures).facts()
        facts["risk"] = _risk(con, schema, k)
        for child in schema.children(schema.root, "quasi"):
            steps = _lost(con, schema.nodes[schema.root], child)
            facts["lost"].append({"table": child.name, "steps": steps})
    return facts


def _digests(raw: Path) -> dict[str, str]:
    """Return the SHA-256 of a database, or of each file of a folder."""
    files = sorted(each for each in raw.iterdir() if each.is_file()) if raw.is_dir() else [raw]
    return {each.name: digest(each) for each in files}


def _risk(con: duckdb.DuckDBPyConnection, schema: Schema, k: int) -> list[dict[str, Any]]:
    """Return how many people are unique by what is known, before and after the release."""
    before = Folds(schema, "__anon_s_", lambda node: quote(node.name), added=False)
    after = Folds(schema, "__anon_s_", lambda node: view_of(node.name), added=True)
    rows = [con.execute(risk(schema, folds, k)).fetchall() for folds in (before, after)]
    return [
        {
            "knowledge": raw[0],
            "persons": raw[1],
            "unique_before": raw[2],
            "below_k_before": raw[3],
            "unique_after": shown[2],
            "below_k_after": shown[3],
        }
        for raw, shown in zip(*rows, strict=True)
    ]


def _lost(con: duckdb.DuckDBPyConnection, root: Node, child: Node) -> list[dict[str, Any]]:
    """Return the rows of a table that are left out, by the number of rows of the persons' classes.

    The released number is a label; its mean stands for each person of a class that keeps no row.
    """
    number, weight = quote(child.name + ROWS), f"{quote(child.name + WEIGHT)}::DOUBLE"
    assert child.link is not None
    on = " AND ".join(
        f"c.{quote(column)} = p.{quote(key)}"
        for column, key in zip(child.link.columns, child.link.keys, strict=True)
    )
    keys = ", ".join(f"p.{quote(key)}" for key in child.link.keys)
    (kind,) = {
        row[1]
        for row in con.execute(f"DESCRIBE FROM {view_of(root.name)}").fetchall()
        if row[0] == child.name + ROWS
    }
    labelled = kind == "VARCHAR" or kind.startswith("STRUCT")
    mean = f"anon_mid({number})" if labelled else f"{number}::DOUBLE"
    steps = ", ".join(map(str, _STEPS))
    counts = con.execute(
        f"WITH each AS (SELECT {keys}, any_value(p.m) AS m, any_value(p.w) AS w, "
        f"count({quote('c')}.{quote(child.link.columns[0])}) AS kept "
        f"FROM (SELECT *, {mean} AS m, {weight} AS w FROM {view_of(root.name)}) AS p "
        f"LEFT JOIN {view_of(child.name)} AS c ON {on} GROUP BY {keys}) "
        "SELECT list_min(list_filter("
        f"[{steps}, 9223372036854775807], lambda s: s >= m)) AS step, count(*) AS persons, "
        "sum(coalesce(w * kept, m)) AS rows, sum(kept)::BIGINT AS kept "
        "FROM each GROUP BY step ORDER BY step"
    ).fetchall()
    return [
        {
            "rows_a_person": f"up to {step:,}" if step <= _STEPS[-1] else f"over {_STEPS[-1]}",
            "persons": many,
            "rows": rows,
            "kept": kept,
            "lost": max(0.0, 1 - kept / rows) if rows else 0.0,
        }
        for step, many, rows, kept in counts
    ]


def of_linked(facts: Mapping[str, Any]) -> str:
    """Return the page. facts: the result of ``gather``."""
    return render(
        "linked.html",
        facts=facts,
        stated=stated(facts["statement"]),
        places=PLACES,
        review=review_in_words(facts["statement"]),
    )
