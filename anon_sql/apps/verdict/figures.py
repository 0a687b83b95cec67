"""Measure what a verdict judges with SQL on the tables ``raw`` and ``released``.

Each figure has the statement that it is the result of, so that anybody can ask again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import duckdb

from anon_sql.apps.manifest import STATEMENT, UNIQUE
from anon_sql.attacks.minimality import NAME as MINIMALITY
from anon_sql.audit.classes import WHOSE
from anon_sql.audit.columns import DETERMINED, RARE, REVEALING, UNIQUE_ONES
from anon_sql.core.common_parameters import PERSON, UNIT
from anon_sql.core.names import literal, quote, sql_value
from anon_sql.core.notation import recognize
from anon_sql.core.parameters import parameters_of, takes
from anon_sql.core.roles import REST, fold
from anon_sql.core.stopping import STOPPED
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb.errors import as_raised, error_text
from anon_sql.measures.utility import LOST
from anon_sql.methods.method import release_methods
from anon_sql.privacy import VALUE_MODELS

Rows = list[dict[str, Any]]
TABLES = "'raw', 'released'"
QUERIES, ATTRIBUTES, SELECTIVITY, SEED = 100, 2, 0.05, 42
QUESTIONS, STARS = "anon_verdict_queries", "anon_verdict_stars"
NOTHING = "anon_verdict_nothing"
READABLE = 20  # values of a set that a reader can use
ATTACKED, FEWER = 50_000, 5_000  # rows of a table whose release is made again and again
_KEPT = {RARE: "rare", DETERMINED: "determined", REVEALING: "revealing"}  # limits by property
_LOOKED_AT = 2_000  # texts of a column that say in which notation they are written
_ROWS = "SELECT (SELECT count(*) FROM raw), (SELECT count(*) FROM released)"


@dataclass(frozen=True)
class Figure:
    """One figure of a release.

    name: of the limit that it is held against. value: None where it cannot be measured. column:
    that it belongs to, if any. sql: the statement whose only value it is. note: of the reason.
    """

    name: str
    value: float | None
    sql: str
    column: str | None = None
    note: str = ""


@dataclass(frozen=True)
class Measured:
    """What a verdict judges.

    checks: the rows of ``audit``, None without one, and audit_sql, its statement. without_role,
    unchanged, generalized: released columns. gains: what the attacks of ``criteria`` found.
    """

    figures: Sequence[Figure]
    checks: Sequence[Mapping[str, Any]] | None
    audit_sql: str
    without_role: Sequence[str] = ()
    unchanged: Sequence[str] = ()
    generalized: Sequence[str] = ()
    request: Mapping[str, Any] = field(default_factory=dict)
    gains: Rows = field(default_factory=list)


def measured_of(fields: Mapping[str, Any]) -> Measured:
    """Return what a verdict judges again, of what ``asdict`` has made of it, its fields."""
    return Measured(**{**fields, "figures": [Figure(**each) for each in fields["figures"]]})


def arguments(call: Mapping[str, Any]) -> str:
    """Return the arguments of a call after its tables, those that are None left out."""
    return "".join(f", {n} := {sql_value(each)}" for n, each in call.items() if each is not None)


def measure(
    con: duckdb.DuckDBPyConnection,
    request: Mapping[str, Any],
    checks: Sequence[Mapping[str, Any]] | None,
    step: Callable[[str], None] = lambda note: None,
    drawn: "Drawn | None" = None,
    form: str | None = None,
) -> Measured:
    """Return what a verdict judges.

    request: quasi, sensitive, identifiers, keep, hierarchy and the parameters of privacy models,
    None where nothing is asked. checks: the rows of ``audit`` if it has run. step: is told what is
    measured next. drawn: the queries, if there are some already. form: the format of the release,
    None if it is unknown.
    """
    ask = partial(rows_of, con)
    roles = {name: request.get(name) for name in ("quasi", "hierarchy")}
    is_series = request.get("series") is not None  # former rows are more than the raw table has
    released = con.table("released").columns
    figures: list[Figure] = []
    ((raw_rows, released_rows),) = con.execute(_ROWS).fetchall()
    if request["quasi"] and released_rows:
        step("inference")
        figures += _inference(ask, request["sensitive"], roles)
        if released_rows > raw_rows and not is_series:  # added ones, of which no loss is known
            figures.append(Figure("gcp", None, f"SELECT gcp FROM utility({TABLES})"))
        else:
            step("loss")
            texts = _written(con, roles)
            lost = list(_loss(ask, roles, texts, release_alone=is_series, form=form))
            figures += lost
            figures += _sets(con, roles)
            step("queries")
            if any(each.name == "gcp" for each in lost) and not is_series:
                figures.append(_query_error(drawn or Drawn(con, request)))
        step("distributions")
        figures += [each for name in request["sensitive"] for each in _distribution(con, name)]
    audited = audit_statement(_without_secret(request))
    figures += _kept(checks or (), audited, request.get(UNIQUE) or 0)
    changed = {fold(name) for name in request["quasi"]}
    hidden = {fold(name) for name in request["sensitive"]}
    named = {
        fold(name)
        for role in ("quasi", "sensitive", "identifiers", "keep", "exclude")
        for name in request.get(role) or []
    }
    rest = REST in (request.get("keep") or [])
    return Measured(
        figures,
        checks,
        audited,
        [] if rest else [name for name in released if fold(name) not in named],
        [name for name in released if fold(name) not in changed | hidden],
        [name for name in released if fold(name) in changed],
        request,
    )


def _kept(checks: Sequence[Mapping[str, Any]], audited: str, allowed: float) -> Iterator[Figure]:
    """Give what an audit finds of the kept columns.

    audited: its statement. allowed: the share of rows that may be unique on them. If more are,
    that is red already, and rare combinations are not told beside it.
    """
    unique = any(each["property"] == UNIQUE_ONES and each["passed"] is False for each in checks)
    for check in checks:
        name = _KEPT.get(check["property"])
        if name == "rare" and unique:
            continue
        if name == "rare" and check["found"] <= allowed:
            name = "rare_allowed"
        if name is not None:
            sql = f"SELECT found {audited} WHERE property = {literal(check['property'])}"
            yield Figure(name, check["found"], sql, note=check["example"])


def _without_secret(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a request whose statement can be shown: of a key only the variable that holds it."""
    key = request.get("key")
    if key is None or str(key).startswith("env:"):
        return request
    return {name: value for name, value in request.items() if name != "key"}


def audit_statement(request: Mapping[str, Any]) -> str:
    """Return the audit of a release, with all that was asked of it."""
    parameters = {n: each for n, each in request.items() if n not in STATEMENT}
    if parameters.get(UNIT) == PERSON:  # the default
        del parameters[UNIT]
    return f"FROM audit({TABLES}{arguments(parameters)})"


def audit_of_made(con: duckdb.DuckDBPyConnection, request: Mapping[str, Any]) -> Rows:
    """Return the rows of the audit of ``released``, which was made just now as requested."""
    return settled(rows_of(con, audit_statement(request)), request, made=request)


def settled(
    checks: Rows,
    request: Mapping[str, Any],
    made: Mapping[str, Any] | None,
    by_manifest: bool = False,
) -> Rows:
    """Return the rows of an audit with what is known of the call that made the release.

    request: what the audit asked. made: what a release function was asked, None if that is not
    known. by_manifest: a manifest says so, and anybody can edit one. The function counts people in
    each class that it prints, and makes no other release. So a level that it was asked for holds,
    although the release does not say whose rows are in a class.
    """
    source = "the manifest says that the function" if by_manifest else "the function"
    return [_settled(check, request, made or {}, source) for check in checks]


def _settled(
    check: Mapping[str, Any], request: Mapping[str, Any], made: Mapping[str, Any], source: str
) -> dict[str, Any]:
    name, entity = check["property"], made.get("entity")
    is_open = check["passed"] is None and WHOSE in (check["example"] or "")
    is_same = entity == request.get("entity") and made.get(name) == request.get(name)
    if not is_open or None in (entity, made.get(name)) or not is_same:
        return dict(check)
    meaning = (
        f"{name} = {made[name]:g} holds: {source} that made the release required it for the "
        f"people of every class. The release alone does not say whose rows are in a class."
    )
    return {**check, "passed": True, "found": None, "example": None, "meaning": meaning}


def rows_of(
    con: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, Any] | None = None
) -> Rows:
    """Return the rows of a query, each as a dict; parameters: by name."""
    result = con.execute(sql, dict(parameters) if parameters else None)
    names = [column[0] for column in result.description or []]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def _inference(
    ask: Callable[[str], Rows], sensitive: Sequence[str], roles: Mapping[str, Any]
) -> Iterator[Figure]:
    """Give what classes disclose of each sensitive column."""
    if not sensitive:
        return
    call = f"attack_inference({TABLES}{arguments({'sensitive': list(sensitive), **roles})})"
    for row in ask(f"FROM {call}"):
        where = f"FROM {call} WHERE attribute = {literal(row['attribute'])}"
        for name in ("certain", "inferred", "lifted", "near"):
            share = f"{name}_share"
            if name != "near" or row["near"] is not None:
                yield Figure(name, row[share], f"SELECT {share} {where}", row["attribute"])
        yield Figure(
            "even_values", row["even_values"], f"SELECT even_values {where}", row["attribute"]
        )


def attack_call(made_by: str, request: Mapping[str, Any]) -> str | None:
    """Return the attack that knows how a release was made, as SQL.

    made_by: its method. request: all that was asked of the release, with its options. None for a
    release that has no constraint on sensitive values, which tells nothing, and for one that a
    single call of a method does not make.
    """
    method, attack_parameters = release_methods().get(made_by), takes(MINIMALITY)
    constrained = any(model.asks(request.get(model.name)) for model in VALUE_MODELS)
    if method is None or method.perturbative or not constrained or not request["sensitive"]:
        return None
    if request.get("series") is not None or request.get("like") is not None:
        return None
    method_options = {
        n: request[n] for n in parameters_of(method.takes) if request.get(n) is not None
    }
    call = {
        n: request.get(n)
        for n in attack_parameters
        if n not in ("method", "options", "runs", "surer")
    }
    listed = ", ".join(
        f"{literal(name)}: {sql_value(each)}" for name, each in method_options.items()
    )
    options = f", options := {{{literal(method.name)}: {{{listed}}}}}" if method_options else ""
    return f"attack_minimality({TABLES}{arguments({'method': made_by, **call})}{options})"


def attacked_by_method(
    con: duckdb.DuckDBPyConnection, made_by: str, request: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the ``rows`` of ``attack_call``, and in a ``note`` why there are none."""
    call = attack_call(made_by, request)
    if call is None:
        return {"rows": [], "note": ""}
    ((rows,),) = con.execute("SELECT count(*) FROM raw").fetchall()
    slow = release_methods()[made_by].quadratic or request.get("effort") == "best"
    most = FEWER if slow else ATTACKED
    if rows > most:
        longer = ", and this method takes long" if slow else ""
        return {"rows": [], "note": f"The table has more than {most:,} rows{longer}."}
    try:
        with as_raised():
            return {"rows": rows_of(con, f"FROM {call}"), "note": ""}
    except AnonError as error:
        if error.rule == STOPPED:
            raise
        return {"rows": [], "note": error_text(error)}


def minimality(rows: Rows, made_by: str, request: Mapping[str, Any]) -> Iterator[Figure]:
    """Give the share of people who are told beyond their class, by sensitive column.

    rows: of the attack; made_by, request: as ``attack_call`` takes them.
    """
    call = attack_call(made_by, request)
    for row in rows:
        sql = f"SELECT gain FROM {call} WHERE attribute = {literal(row['attribute'])}"
        yield Figure("minimality", row["gain"], sql, row["attribute"])


def _loss(
    ask: Callable[[str], Rows],
    roles: Mapping[str, Any],
    written: Mapping[str, str],
    *,
    release_alone: bool,
    form: str | None,
) -> Iterator[Figure]:
    """Give the loss of the table and of columns, and the suppressed rows.

    release_alone: as ``loss_calls`` takes it. written: as ``_written`` returns it. form: the format
    of the release, None if it is unknown.
    """
    call, lost = loss_calls(roles, release_alone=release_alone)
    (row,) = ask(call)
    quasi = {"quasi": roles["quasi"]}
    yield Figure("suppression_rate", row["suppression_rate"], f"SELECT suppression_rate {call}")
    if row["gcp"] is not None:
        yield Figure("gcp", row["gcp"], f"SELECT gcp {call}")
        share = f"SELECT avg((ncp > {LOST})::INTEGER) FROM {lost}"
        losses = [each for each in ask(f"FROM {lost}") if each["ncp"] is not None]
        wide = [each["attribute"] for each in losses if each["ncp"] > LOST]
        value = len(wide) / len(losses) if losses else None
        yield Figure("columns", value, share, note=", ".join(wide))
        for each in losses:
            if each["ncp"] and each["attribute"] in written:
                name = each["attribute"]
                sql = f"SELECT ncp FROM {lost} WHERE attribute = {literal(name)}"
                yield Figure("texts", each["ncp"], sql, name, written[name])
        return
    worst = "SELECT CASE WHEN count(sse_sst) = count(*) THEN max(sse_sst) END "  # all, or none
    worst += f"FROM value_loss({TABLES}{arguments({**quasi, 'format': form})})"
    ((value,),) = (tuple(each.values()) for each in ask(worst))
    yield Figure("sse_sst", value, worst)


def loss_calls(
    roles: Mapping[str, Any], *, release_alone: bool, k: int = 5, tables: str = TABLES
) -> tuple[str, str]:
    """Return the query of ``utility``, and the relation of ``attribute_loss``.

    release_alone: of its rows alone, as those of a series are counted. k: of cavg. tables: the
    names of the raw table and the release, as SQL.
    """
    if not release_alone:
        of_k = "" if k == 5 else f", k := {k}"
        call = f"FROM utility({tables}{of_k}{arguments(roles)})"
        return call, f"attribute_loss({tables}{arguments(roles)})"
    trees = sql_value(roles["hierarchy"]) if roles["hierarchy"] else "NULL"
    both = f"{tables}, {sql_value(roles['quasi'])}, {trees}"
    from_clause = f"FROM __anon_measures('utility', {both}, __anon_k := {k}, __anon_own := true)"
    call = f"FROM (SELECT unnest(__anon_found) {from_clause})"
    return call, f"(SELECT unnest(attributes) AS attribute, unnest(ncp) AS ncp {call})"


def _flat(con: duckdb.DuckDBPyConnection, relation: str, roles: Mapping[str, Any]) -> list[str]:
    """Return the quasi-identifiers of text that have no hierarchy, as a relation calls them."""
    table, candidates = con.table(relation), {fold(name) for name in roles["quasi"]}
    if roles["hierarchy"]:
        tree = f"SELECT DISTINCT attribute FROM query_table({literal(roles['hierarchy'])})"
        candidates -= {fold(name) for (name,) in con.execute(tree).fetchall()}
    pairs = zip(table.columns, map(str, table.types), strict=True)
    return [name for name, kind in pairs if fold(name) in candidates and kind == "VARCHAR"]


def _written(con: duckdb.DuckDBPyConnection, roles: Mapping[str, Any]) -> dict[str, str]:
    """Return in which notation the texts of quasi-identifiers are numbers, dates or times, and how
    to read them, by column; a column of other texts has none."""
    notations = {}
    for name in _flat(con, "raw", roles):
        values = con.execute(f"SELECT {quote(name)} FROM raw WHERE {quote(name)} IS NOT NULL "
                             f"LIMIT {_LOOKED_AT}").fetchall()  # fmt: skip
        recognized = recognize([text for (text,) in values])
        if recognized is not None:
            notations[name] = f"{recognized.says()}. Read them as {recognized.notation.sql_type}"
    return notations


def _sets(con: duckdb.DuckDBPyConnection, roles: Mapping[str, Any]) -> Iterator[Figure]:
    """Give the share of rows whose label of a column is a set of more than ``READABLE`` values."""
    for name in _flat(con, "raw", roles):
        released = {fold(each): each for each in con.table("released").columns}
        column = quote(released.get(fold(name), name))
        sql = (
            f"SELECT coalesce(sum(n) FILTER (label LIKE '{{%}}' AND len(anon_values(label)) > "
            f"{READABLE}), 0) / sum(n) FROM (SELECT {column}::VARCHAR AS label, count(*) AS n "
            "FROM released GROUP BY ALL)"
        )
        try:
            ((value,),) = con.execute(sql).fetchall()
        except duckdb.Error:  # a raw value that begins and ends as a set does
            continue
        yield Figure("sets", value, sql, name)


class Drawn:
    """Random queries on the table ``raw``, each kind drawn once, and errors of answers to them.

    roles: quasi, and hierarchy.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection, roles: Mapping[str, Any]):
        self._con, self._lists = con, dict[float, list[str]]()
        raw = {fold(name): name for name in con.table("raw").columns}
        quasi = [raw.get(fold(name), name) for name in roles["quasi"]]
        self.roles = {"quasi": quasi, "hierarchy": roles["hierarchy"]}

    def queries(self, selectivity: float = SELECTIVITY) -> list[str]:
        """Return queries that match such a share of the rows, in the order of their texts."""
        if selectivity not in self._lists:
            sql = f"SELECT query FROM {workload(self.roles['quasi'], selectivity)} ORDER BY query"
            self._lists[selectivity] = [each["query"] for each in rows_of(self._con, sql)]
        return self._lists[selectivity]

    def error(self, selectivity: float = SELECTIVITY, released: str = "released") -> dict[str, Any]:
        """Return the row of ``workload_error`` of a release."""
        call = f"'raw', {literal(released)}, $queries{arguments(self.roles)}"
        sql = f"FROM workload_error({call})"
        return rows_of(self._con, sql, {"queries": self.queries(selectivity)})[0]

    @cached_property
    def of_stars(self) -> float | None:
        """The mean error of a release that shows nothing but * ."""
        self._con.execute(f"CREATE OR REPLACE TEMP VIEW {NOTHING} AS {stars(self.roles['quasi'])}")
        mean: float | None = self.error(released=NOTHING)["mean"]
        self._con.execute(f"DROP VIEW {NOTHING}")
        return mean


def _query_error(drawn: Drawn) -> Figure:
    """Return the error of random queries over that of a release that shows nothing but * ."""
    released = f"workload_error({TABLES}, getvariable('{QUESTIONS}'){arguments(drawn.roles)})"
    sql = (
        f"{questions(drawn.roles)}SELECT released.mean / nullif({STARS}.mean, 0) FROM {released} "
        f"AS released, {STARS}"
    )
    mean, most = drawn.error()["mean"], drawn.of_stars
    return Figure("query_error", None if mean is None or not most else mean / most, sql)


def workload(quasi: Sequence[str], selectivity: float = SELECTIVITY) -> str:
    """Return the call that draws queries on the table ``raw``."""
    return (
        f"query_workload('raw', n := {QUERIES}, attributes := {min(ATTRIBUTES, len(quasi))}, "
        f"selectivity := {selectivity}, seed := {SEED}{arguments({'quasi': quasi})})"
    )


def stars(quasi: Sequence[str]) -> str:
    """Return the SELECT of a release that shows nothing but * ."""
    listed = ", ".join(f"'*' AS {quote(name)}" for name in quasi)
    return f"SELECT {listed} FROM raw"


def questions(roles: Mapping[str, Any]) -> str:
    """Return SQL before a SELECT: random queries in the variable ``QUESTIONS``, and ``STARS``.

    The row of STARS has the error of a release that shows nothing but * . roles: quasi, as the raw
    table calls them, and hierarchy.
    """
    names = roles["quasi"]
    return (
        f"SET VARIABLE {QUESTIONS} = (SELECT list(query ORDER BY query) FROM {workload(names)}); "
        f"WITH {NOTHING} AS ({stars(names)}), {STARS} AS (FROM workload_error("
        f"'raw', '{NOTHING}', getvariable('{QUESTIONS}'){arguments(roles)})) "
    )


def _distribution(con: duckdb.DuckDBPyConnection, name: str) -> Iterator[Figure]:
    """Give how far the shares of a sensitive column's values moved, suppressed and added rows
    included."""
    counts = "SELECT {name}::VARCHAR AS value, count(*) AS n FROM {table} GROUP BY ALL"
    before, after = (counts.format(name=quote(name), table=t) for t in ("raw", "released"))
    sql = (  # whole numbers up to the last division: the order of values does not matter
        "SELECT sum(abs(coalesce(a.n, 0)::HUGEINT * q - coalesce(b.n, 0)::HUGEINT * p)) "
        "/ (2 * max(p * q)) "
        f"FROM ({before}) AS a FULL JOIN ({after}) AS b ON a.value IS NOT DISTINCT FROM b.value, "
        "(SELECT count(*)::HUGEINT AS p FROM raw), (SELECT count(*)::HUGEINT AS q FROM released)"
    )
    ((value,),) = con.execute(sql).fetchall()
    yield Figure("distribution", value, sql, name)
