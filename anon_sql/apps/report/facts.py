"""Collect the facts of a report or a sweep with SQL on the tables ``raw`` and ``released``."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from math import isfinite
from typing import Any

import duckdb

from anon_sql.apps.formats.dictionary import labels_of_both
from anon_sql.apps.manifest import REQUIRED, ROLES, STATEMENT, UNIQUE
from anon_sql.apps.report import criteria, distributions, of_series, recipient, summary
from anon_sql.apps.report.distributions import correlations
from anon_sql.apps.verdict.criteria import gains_of, with_gains
from anon_sql.apps.verdict.figures import (
    SELECTIVITY,
    Drawn,
    attacked_by_method,
    measure,
    minimality,
    rows_of,
    settled,
)
from anon_sql.apps.verdict.recommended import recommend
from anon_sql.apps.verdict.remedies import call_of, made_by, remedied
from anon_sql.apps.verdict.rules import VERDICT, verdict
from anon_sql.apps.verdict.words import CONSEQUENCE, not_covered
from anon_sql.audit.earlier import EARLIER
from anon_sql.core.names import quote
from anon_sql.core.roles import REST, fold
from anon_sql.core.running import Progress

KNOWN = 2  # quasi-identifiers that the attacker of ``attack_background`` knows
SAMPLE = 5_000  # people who are re-identified and guessed: 19 of 20 shares are within 1.4 points
_PAIR = "'raw', 'released', $name, quasi := $quasi, hierarchy := $hierarchy"


def attacked(con: duckdb.DuckDBPyConnection, request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each sensitive column: shares of people, and the largest share in a class.

    request: quasi, sensitive and hierarchy.
    """
    return [_column(con, name, request) for name in request["sensitive"]]


def _column(
    con: duckdb.DuckDBPyConnection, name: str, request: Mapping[str, Any]
) -> dict[str, Any]:
    arguments = {"name": name, "quasi": request["quasi"], "hierarchy": request["hierarchy"]}
    known_count = min(KNOWN, len(request["quasi"]))
    usual = largest(con, "raw", name, [])
    threshold = (1 + (usual or 0.0)) / 2
    same = _one(con, f"FROM attack_homogeneity({_PAIR})", arguments)
    uneven = _one(
        con, f"FROM attack_skewness({_PAIR}, threshold := $at)", {**arguments, "at": threshold}
    )
    drawn = {**arguments, "sample": SAMPLE}
    linking = _one(con, f"FROM attack_linking({_PAIR}, sample := $sample)", drawn)
    guessed = _one(con, f"FROM attack_background({_PAIR}, sample := $sample, known := $known)",
                   {**drawn, "known": known_count})  # fmt: skip
    return {
        "column": name,
        "persons": linking["persons"],
        "homogeneity": same["row_share"],
        "skewness": uneven["row_share"],
        "skewness_threshold": threshold,
        "reidentified": linking["reidentified_share"],
        "disclosed": linking["disclosed_share"],
        "known": known_count,
        "guessed": guessed["guessed_share"],
        "guessed_without_knowledge": guessed["baseline"],
        "largest_share": largest(con, "released", name, request["quasi"]),
        "largest_share_in_table": usual,
    }


def _one(con: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return rows_of(con, sql, parameters)[0]


def largest(
    con: duckdb.DuckDBPyConnection, table: str, column: str, labels: list[str]
) -> float | None:
    """Return the largest share of a value, NULL aside, in a class of equal labels or in a table."""
    by = "".join(f", {quote(name)}" for name in labels)
    ((share,),) = con.sql(
        "SELECT max(__anon_most / __anon_all) FROM (SELECT max(__anon_n) AS __anon_most, "
        f"sum(__anon_n) AS __anon_all FROM (SELECT count(*) AS __anon_n{by} FROM {table} "
        f"WHERE {quote(column)} IS NOT NULL GROUP BY {quote(column)}{by}) "
        f"GROUP BY 'all'{by})"
    ).fetchall()
    return None if share is None else float(share)


LEARNED = ("reidentified", "disclosed", "homogeneity", "guessed")
_OF_COMPARE = ("methods", "ks")


def sweep(
    con: duckdb.DuckDBPyConnection, request: Mapping[str, Any], *, attacks: bool
) -> list[dict[str, Any]]:
    """Return the rows of compare, each with its highest risk and with ``LEARNED``.

    request: arguments of compare, None where nothing is asked. attacks: whether each release is
    made again and attacked; else, and where there is none, the shares are None. They are those of
    the worst sensitive column.
    """
    arguments = {name: value for name, value in request.items() if value is not None}
    rows = rows_of(con, f"FROM compare('raw', {_listed(arguments)})", arguments)
    for row in rows:
        learned: dict[str, Any] = dict.fromkeys(LEARNED)
        if attacks and row["note"] is None:
            learned = _learned(con, row, request, arguments)
        smallest = row["smallest_class"]
        row |= {"risk": 1 / smallest if smallest else None, **learned}
    return rows


def left_out(
    con: duckdb.DuckDBPyConnection,
    rows: Sequence[Mapping[str, Any]],
    requested: Sequence[str] | None,
) -> list[dict[str, str]]:
    """Return the methods that a sweep has no row of, each with the reason.

    requested: the methods that were named, None for all that fit.
    """
    there = {fold(row["method"]) for row in rows}
    methods = rows_of(con, "SELECT name, needs, perturbative FROM anon_methods() ORDER BY name", {})
    return [
        {"method": each["name"], "reason": _why(each, requested)}
        for each in methods
        if each["name"] not in there
    ]


def _why(method: Mapping[str, Any], requested: Sequence[str] | None) -> str:
    if requested:
        return "it was not asked for (--methods)"
    if method["perturbative"]:
        return "it adds rows, of which no loss is measured"
    return f"needs: {method['needs']}" if method["needs"] else "it does not fit the table"


def _learned(
    con: duckdb.DuckDBPyConnection,
    row: Mapping[str, Any],
    request: Mapping[str, Any],
    arguments: Mapping[str, Any],
) -> dict[str, Any]:
    """Return ``LEARNED`` of the release that a row of compare measures."""
    call = {name: value for name, value in arguments.items() if name not in _OF_COMPARE}
    con.execute(
        f"CREATE OR REPLACE TABLE released AS FROM {quote(row['method'])}"
        f"('raw', k := $k, {_listed(call)})",
        {**call, "k": row["k"]},
    )
    by_column = attacked(con, request)
    return {name: max((each[name] for each in by_column), default=None) for name in LEARNED}


def _listed(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} := ${name}" for name in arguments)


METHOD = "full_domain"
MOST_NODES = 15  # nodes that are listed
_PARAMETERS = (
    *REQUIRED,
    *("quasi", "sensitive", "identifiers", "exclude", "hierarchy"),
)


def lattice_nodes(
    con: duckdb.DuckDBPyConnection, request: Mapping[str, Any], made: Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    """Return nodes of the lattice as ``lattice`` does, the released one first, then by loss.

    request: parameters of the release; made: its manifest. None are returned without a manifest of
    full_domain, and for a release with the bins of an earlier one, or with bins.
    """
    if made is None or made["method"] != METHOD:
        return []
    options = made["parameters"]["options"] or {}
    if "like" in options or "bin_width" in options:
        return []
    arguments = {name: request.get(name) for name in _PARAMETERS}
    arguments |= {name: options.get(name) for name in ("strata", "suppression_limit")}
    arguments = {name: value for name, value in arguments.items() if value is not None}
    nodes = rows_of(con, f"FROM lattice('raw', {_listed(arguments)})", arguments)
    nodes.sort(key=lambda node: (not node["best"], not node["legal"], node["loss"]))
    return nodes[:MOST_NODES]


SELECTIVITIES = (0.01, SELECTIVITY, 0.2)  # the second is that of the verdict and the first page
ONE_IN = (2, 3, 5, 11, 20)  # thresholds of re-identification risk, 1 / n
_ROLES = "quasi := $quasi, hierarchy := $hierarchy"


def gather(
    con: duckdb.DuckDBPyConnection,
    request: Mapping[str, Any],
    manifest: Mapping[str, Any] | None = None,
    *,
    show_sensitive: bool,
    judging: Mapping[str, Any] | None = None,
    sources: summary.Sources,
    safe_harbor: str | None = None,
) -> dict[str, Any]:
    """Return the facts of a release by section: numbers, texts, lists and dicts.

    request: quasi, sensitive, identifiers, keep, hierarchy; parameters of privacy models, entity,
    None where nothing is asked; of a series its state and key; purpose, recipient, assumptions.
    manifest: None without one.
    judging: what ``verdict`` takes besides, from a recipe. sources: what was read. safe_harbor: the
    call of ``safe_harbor`` whose rows are a section; None for no section.
    """
    con.execute("SET TimeZone = 'UTC'")
    roles = {name: request[name] for name in ("quasi", "hierarchy")}
    arguments = {n: v for n, v in request.items() if v is not None and n not in STATEMENT}
    listed = _listed(arguments)
    k = 5 if request["k"] is None else request["k"]
    state = request.get("series")
    checks: list[dict[str, Any]] = []
    figures: list[dict[str, Any]] = []
    drawn = Drawn(con, request)
    gains: list[dict[str, Any]] = []
    control = sources.control_facts(con)

    def criteria_found() -> dict[str, Any]:
        gains.extend(gains_of(con, request, control=control is not None))
        limits = (judging or {}).get("limits", VERDICT)
        return criteria.sections(gains, control, limits, of_series=state is not None)

    def checked() -> list[dict[str, Any]]:
        rows = rows_of(con, f"FROM audit('raw', 'released', {listed})", arguments)
        made = manifest and manifest["parameters"]
        checks.extend(settled(rows, request, made, by_manifest=True))
        return [{**each, "consequence": CONSEQUENCE[each["property"]]} for each in checks]

    made_with = call_of(manifest, sources.recipe, _without_statements(request))

    def judged() -> dict[str, Any]:
        measured = measure(
            con, _without_statements(request), checks, drawn=drawn, form=made_with[1].get("format")
        )
        figures_of_minimality = minimality(facts["method_known"]["rows"], *made_with)
        measured = replace(measured, figures=[*measured.figures, *figures_of_minimality])
        measured = with_gains(measured, gains)
        figures.extend(map(asdict, measured.figures))
        judgment = verdict(measured, **(judging or {}))
        release = made_by(manifest, sources.recipe, _without_statements(request))
        tried = remedied(con, *release, judgment, judging or {}, progress.show)
        return {**tried.facts(), "not_covered": not_covered(made_with[1]), "figures": figures}

    facts: dict[str, Any] = {}
    sections: dict[str, Callable[[], Any]] = {
        "checks": checked,
        "of_series": lambda: state and of_series.counts(con, state),
        "utility": lambda: rows_of(
            con, f"FROM utility('raw', 'released', k := $k, {_ROLES})", {**roles, "k": k}
        )[0],
        "columns": lambda: _columns(con, request),
        "column_labels": lambda: labels_of_both(con, "raw", "released"),
        "kept": lambda: _kept(con, request, checks),
        "criteria": criteria_found,
        "attacks": lambda: attacked(con, request),
        "method_known": lambda: attacked_by_method(con, *made_with),
        "risk": lambda: rows_of(con, f"FROM risk('raw', 'released', {_ROLES})", roles)[0],
        "risk_levels": lambda: [_at_risk(con, n, roles) for n in ONE_IN],
        "class_sizes": lambda: _sizes(con, request["quasi"]),
        "levels": lambda: lattice_nodes(con, request, manifest),
        "loss": lambda: rows_of(con, f"FROM attribute_loss('raw', 'released', {_ROLES})", roles),
        "query_errors": lambda: [
            {"selectivity": share, **drawn.error(share)} for share in SELECTIVITIES
        ],
        "correlations": lambda: correlations(con, request),
        "distributions": lambda: [
            asdict(each) for each in distributions.quasi(con, request["quasi"], roles)
        ],
        "sensitive_distributions": lambda: [
            asdict(distributions.kept(con, name)) for name in request["sensitive"] if show_sensitive
        ],
        "verdict": judged,
        "recommended": lambda: recommended(con, request, judging or {}, drawn),
        "summary": lambda: summary.collect(
            con, request, figures, facts["verdict"]["reasons"], manifest, sources
        ),
        "recipient": lambda: recipient.checks(con, request, sources.released.name),
    }
    if safe_harbor is not None:
        sections["safe_harbor"] = lambda: rows_of(con, f"FROM {safe_harbor}")
    if state is not None:
        sections |= of_series.sections(con, roles, k)
    with Progress("report", len(sections)) as progress:
        for name, collected in sections.items():
            progress.note = name.replace("_", " ")
            progress.advance(0)
            facts[name] = collected()
            progress.advance(1)
    facts["worst_groups"] = [_worst(each) for each in facts["distributions"]]
    return facts


def recommended(
    con: duckdb.DuckDBPyConnection,
    request: Mapping[str, Any],
    judging: Mapping[str, Any],
    drawn: Drawn | None = None,
) -> dict[str, Any]:
    """Return the recommended k.

    judging: the limits and environment of a recipe, if there is one. drawn: the queries, if any.
    """
    limits = {name: judging[name] for name in ("limits", "environment") if name in judging}
    return recommend(con, request, **limits, drawn=drawn).facts()


def of_summary(
    con: duckdb.DuckDBPyConnection,
    request: Mapping[str, Any],
    judged: Mapping[str, Any],
    manifest: Mapping[str, Any],
    sources: summary.Sources,
    drawn: Drawn,
) -> dict[str, Any]:
    """Return the facts of the first page of a report, of a release that has been judged.

    request, manifest, sources: as ``gather`` takes them. judged: the ``checks`` of the audit, the
    ``figures``, the ``verdict``, the ``criteria`` and the k that is ``recommended``, as they are
    said. drawn: the queries of the verdict.
    """
    roles = {name: request[name] for name in ("quasi", "hierarchy")}
    utility = f"FROM utility('raw', 'released', k := $k, {_ROLES})"
    reasons = judged["verdict"]["reasons"]
    _, options = call_of(manifest, sources.recipe, {})
    facts = {
        **judged,
        "verdict": {**judged["verdict"], "not_covered": not_covered(options)},
        "utility": rows_of(con, utility, {**roles, "k": request["k"]})[0],
        "columns": _columns(con, request),
        "risk": rows_of(con, f"FROM risk('raw', 'released', {_ROLES})", roles)[0],
        "loss": rows_of(con, f"FROM attribute_loss('raw', 'released', {_ROLES})", roles),
        "query_errors": [{"selectivity": SELECTIVITY, **drawn.error()}],
        "summary": summary.collect(con, request, judged["figures"], reasons, manifest, sources),
    }
    return described(facts, request, manifest, sources.raw_name, sources.released.name)


def _without_statements(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the roles and all that is asked of a release, without statements."""
    return {name: value for name, value in request.items() if name not in STATEMENT}


def described(
    facts: Mapping[str, Any],
    request: Mapping[str, Any],
    manifest: Mapping[str, Any] | None,
    raw: str,
    released: str,
) -> dict[str, Any]:
    """Return all that a report says, without figures that JSON cannot hold.

    raw, released: names of the files. ``made`` is None without a manifest.
    """
    made = None
    if manifest is not None:
        made = {
            "method": manifest["method"],
            "seed": manifest["parameters"]["seed"],
            "options": manifest["parameters"]["options"] or {},
            "versions": manifest["versions"],
        }
    required = (*REQUIRED, UNIQUE)
    report = {
        "report": 1,
        "files": {"raw": raw, "released": released},
        "statement": {name: request[name] for name in STATEMENT},
        "made": made,
        "series": None if manifest is None else manifest["series"],
        "of_series": None,
        "attacks_on_several": [] if manifest is None else _of_several(manifest["checks"]),
        "required": {name: request.get(name) for name in required},
        "roles": {name: request[name] for name in ROLES},
        "hierarchy": request["hierarchy"] is not None,
        **facts,
    }
    finite: dict[str, Any] = _finite(report)
    return finite


def _of_several(checks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what a manifest says that attacks on several releases found."""
    return [
        dict(each) for each in checks if each["property"] in EARLIER and each["found"] is not None
    ]


def _finite(value: Any) -> Any:
    """Return a value with None for infinite numbers, and tuples as lists."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(each) for name, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, (list, tuple)) else value


def _at_risk(
    con: duckdb.DuckDBPyConnection, one_in: int, roles: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the rows whose prosecutor risk is above 1 / ``one_in``."""
    call = f"FROM risk('raw', 'released', threshold := $threshold, {_ROLES})"
    row = rows_of(con, call, {**roles, "threshold": 1 / one_in})[0]
    rows = row["prosecutor_at_risk"]
    return {"one_in": one_in, "rows": rows, "share": rows / row["rows"] if row["rows"] else 0.0}


def _columns(con: duckdb.DuckDBPyConnection, request: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the released columns by what was done to them, and the identifiers left out."""
    released = con.table("released").columns
    changed = {fold(name) for name in request["quasi"]}
    hidden = {fold(name) for name in request["sensitive"]}
    return {
        "generalized": [name for name in released if fold(name) in changed],
        "sensitive": [name for name in released if fold(name) in hidden],
        "unchanged": [name for name in released if fold(name) not in changed | hidden],
        "left_out": [n for n in con.table("raw").columns if fold(n) not in map(fold, released)],
    }


def _kept(
    con: duckdb.DuckDBPyConnection, request: Mapping[str, Any], checks: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the share of rows that are unique on the kept columns, as audit finds it.

    without_role: released columns that were given no role.
    """
    (check,) = (each for each in checks if each["property"] == "identifying_combinations")
    with_role = {fold(name) for role in ROLES for name in request[role]}
    released = con.table("released").columns
    return {
        "unique_share": check["found"],
        "most_telling": check["example"],
        "without_role": []
        if REST in request["keep"]
        else [name for name in released if fold(name) not in with_role],
    }


def _sizes(con: duckdb.DuckDBPyConnection, quasi: Sequence[str]) -> list[dict[str, int]]:
    """Return how many classes there are of each size, smallest first."""
    labels = ", ".join(quote(name) for name in quasi)
    rows = con.sql(
        "SELECT __anon_n, count(*) FROM (SELECT count(*) AS __anon_n FROM released GROUP BY "
        f"{labels}) GROUP BY 1 ORDER BY 1"
    ).fetchall()
    return [{"rows": size, "classes": classes} for size, classes in rows]


def _worst(each: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the group of a column whose rows the release shows most wrongly.

    Groups of less than 1 % of the rows are left out.
    """
    least = sum(each["raw"]) / 100
    rows = zip(_groups(each), each["raw"], each["released"], strict=True)
    groups = [
        {
            "column": each["column"],
            "group": group,
            "raw": raw,
            "released": released,
            "error": abs(released - raw) / raw,
        }
        for group, raw, released in rows
        if raw > 0 and raw >= least
    ]
    return max(groups, key=lambda group: group["error"], default=None)


def _groups(each: Mapping[str, Any]) -> list[str]:
    """Return the bins of a distribution in words: ranges with both ends."""
    labels = list(each["labels"])
    if not each["ranges"]:
        return labels
    ends = [label for label in labels[1:] if label != "NULL"]
    bounded = [f"{low} to below {high}" for low, high in zip(labels, ends, strict=False)]
    return [*bounded, f"{labels[len(ends)]} and above", *labels[len(ends) + 1 :]]
