"""``anon-sql audit``: measure k, l and t of a finished table, whose cells are values."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import duckdb
import numpy as np
import pyarrow as pa
import typer

from anon_sql.apps import files
from anon_sql.apps.cli import console, options
from anon_sql.apps.cli.parameters import names
from anon_sql.apps.cli.progress import Progress, on_database
from anon_sql.apps.cli.spelling import Options
from anon_sql.apps.cli.standard_input import shown
from anon_sql.apps.csv.dialect import Dialect
from anon_sql.core.arrow import integers, one_array
from anon_sql.core.names import quote
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, did_you_mean, listed
from anon_sql.privacy.class_values import ClassValues, TableValues, class_values, table_values
from anon_sql.privacy.k_anonymity import KAnonymity
from anon_sql.privacy.l_diversity import KINDS, LDiversity
from anon_sql.privacy.model import ValueModel, figures, many, together
from anon_sql.privacy.t_closeness import TCloseness, with_ground

NAME = "audit"
SMALLEST = 5  # sizes of classes that are printed
_COLUMNS = "column or columns, separated by commas; may be repeated"


@dataclass(frozen=True)
class AuditCall:
    """What is asked of a table; the columns by their names in it."""

    quasi: Sequence[str]
    sensitive: Sequence[str]
    entity: str | None
    k: int | None
    models: Sequence[ValueModel]
    required: Mapping[str, float | None]

    @property
    def noun(self) -> str:
        """What is counted."""
        return "row" if self.entity is None else "person"


@dataclass
class AuditResult:
    """What a table was found to have. sizes: a row for each size of classes, ascending.

    levels: by model; columns: the sensitive column that is worst by each.
    """

    rows: int
    people: int | None
    unique: int
    sizes: list[tuple[int, int]]
    levels: dict[str, float] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)

    @property
    def counted(self) -> int:
        """The rows or people."""
        return self.rows if self.people is None else self.people


@options.with_dialect
def audit(
    source: options.TableFile,
    *,
    quasi: Annotated[list[str], typer.Option(help=f"Quasi-identifiers: {_COLUMNS}.")],
    sensitive: Annotated[list[str], typer.Option(help=f"Sensitive columns: {_COLUMNS}.")] = [],  # noqa: B006
    entity: Annotated[
        str | None, typer.Option(help="Column that identifies the person. Counts people, not rows.")
    ] = None,
    k: Annotated[
        int | None, typer.Option(min=1, help="Required k: rows (or people) in each group.")
    ] = None,
    l: Annotated[  # noqa: E741 - the field's name for it
        float | None, typer.Option("--l", min=1, help="Required l: sensitive values in each group.")
    ] = None,
    l_kind: Annotated[str, typer.Option(help=f"Kind of l: {', '.join(KINDS)}.")] = KINDS[0],
    c: Annotated[float, typer.Option(help="Constant c of --l-kind recursive.")] = 3,
    t: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Largest t: distance of a group from the table."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON.")] = False,
    written_as: Dialect,
    progress: Progress = None,
) -> None:
    """Measure k, l and t of a finished table. Nothing is changed.

    Every cell is a value: no text is read as a label, and NULL is a value. A
    group is all rows with the same quasi-identifiers. The command exits with
    status 1 if --k, --l or --t is not met.

    Example: anon-sql audit people.csv --quasi age,city --sensitive illness --k 5
    """
    with console.one_sentence(spelling=Options(audit, {"raw": source})):
        models = (
            LDiversity(l=l or 1, l_kind=l_kind, c=c),
            TCloseness(t=1.0 if t is None else t),
        )
        required = {"k": k, "l": l, "t": t}
        _check(models[0], l, t, sensitive)
        files.check_source(NAME, "FILE", source)
        missed: list[str] = []

        def measure(con: duckdb.DuckDBPyConnection) -> None:
            options.read_raw(con, source, written_as, (NAME, "FILE"))
            columns = con.table("raw").columns
            quasi_columns = _columns(columns, "--quasi", names(quasi))
            sensitive_columns = _columns(columns, "--sensitive", names(sensitive))
            person = _columns(columns, "--entity", [] if entity is None else [entity])
            _require_one_role([*quasi_columns, *sensitive_columns, *person])
            if not quasi_columns:
                raise AnonError(NAME, "--quasi must name quasi-identifiers")
            request = AuditCall(
                quasi_columns,
                sensitive_columns,
                person[0] if person else None,
                k,
                models if sensitive_columns else (),
                required,
            )
            counted = _measured(con, request)
            missed.extend(_missed(request, counted))
            if as_json:
                console.say(json.dumps(_as_json(source, request, counted), ensure_ascii=False))
            else:
                _show(source, request, counted)

        on_database(NAME, progress, measure)
        if missed:
            raise AnonError(
                NAME,
                "the table must have what is required",
                together(missed),
                "anon-sql release makes a table that has it",
            )


def _check(
    diversity: LDiversity, least: float | None, most: float | None, sensitive: Sequence[str]
) -> None:
    """Raise AnonError for options that mean nothing together; least, most: the required l and t."""
    if diversity.l_kind not in KINDS:
        raise AnonError(NAME, f"--l-kind must be {', '.join(KINDS)}", "another word")
    if not diversity.c > 0:
        raise AnonError(NAME, "--c must be above 0", f"{diversity.c:g}")
    for option, level in (("--l", least), ("--t", most)):
        if level is not None and not names(sensitive):
            raise AnonError(NAME, f"{option} must come with --sensitive")
    diversity.check(NAME)


def _columns(table_columns: Sequence[str], option: str, wanted: Sequence[str]) -> list[str]:
    """Return columns as the table spells them. Raises AnonError for others."""
    by_fold = {fold(name): name for name in table_columns}
    for name in wanted:
        if fold(name) not in by_fold:
            rule = f"{option} must name a column of FILE"
            raise AnonError(NAME, rule, f"'{name}'", did_you_mean(name, table_columns))
    return list(dict.fromkeys(by_fold[fold(name)] for name in wanted))


def _require_one_role(columns: Sequence[str]) -> None:
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise AnonError(NAME, "a column has one role", f"two for {listed(twice)}")


def _measured(con: duckdb.DuckDBPyConnection, request: AuditCall) -> AuditResult:
    """Return the sizes of the classes of ``raw``, and the levels of its worst ones."""
    quasi, count = ", ".join(map(quote, request.quasi)), "count(*)"
    who = "NULL"
    if request.entity is not None:  # rows without a person are together one
        person = quote(request.entity)
        count = f"count(DISTINCT {person}) + max(CASE WHEN {person} IS NULL THEN 1 ELSE 0 END)"
        who = f"any_value(__anon_sort_key({person}))"
    ((rows, people),) = con.execute(f"SELECT count(*), {count} FROM raw").fetchall()
    if not rows:
        raise AnonError(NAME, "FILE must have rows")
    sizes = con.execute(
        f"SELECT __anon_n, count(*), count(DISTINCT __anon_who) FROM (SELECT {count} AS __anon_n, "
        f"{who} AS __anon_who FROM raw GROUP BY {quasi}) GROUP BY __anon_n ORDER BY __anon_n"
    ).fetchall()
    alone = next(((classes, whose) for size, classes, whose in sizes if size == 1), (0, 0))
    counted = AuditResult(
        rows,
        None if request.entity is None else people,
        alone[request.entity is not None],
        [(size, classes) for size, classes, _ in sizes],
        {KAnonymity.name: sizes[0][0]},
    )
    types = dict(zip(con.table("raw").columns, map(str, con.table("raw").types), strict=True))
    for column in request.sensitive:
        classes, table = _values(con, quasi, quote(column), count)
        table = with_ground(NAME, column, types[column], table, None, None)
        for model in request.models:
            levels = model.measure(classes, table)
            level = float(levels.min() if model.at_least else levels.max())
            worst = counted.levels.get(model.name)
            if worst is None or (level < worst if model.at_least else level > worst):
                counted.levels[model.name], counted.columns[model.name] = level, column
    return counted


def _values(
    con: duckdb.DuckDBPyConnection, quasi: str, column: str, count: str
) -> tuple[ClassValues, TableValues]:
    """Return how often each class, and the table, has each value of a column; names quoted."""
    value = f"__anon_sort_key({column})"
    by_class = con.sql(
        f"SELECT list(struct_pack(key := __anon_value, n := __anon_n)) AS held FROM ("
        f"SELECT {quasi}, {value} AS __anon_value, ({count})::BIGINT AS __anon_n "
        f"FROM raw GROUP BY {quasi}, __anon_value) GROUP BY {quasi}"
    ).to_arrow_table()
    lists = one_array(by_class.column("held"))
    entries = lists.flatten()
    class_of = np.repeat(np.arange(len(lists)), np.diff(integers(lists.offsets)))
    table = con.sql(
        f"SELECT {value} AS key, ({count})::BIGINT AS n FROM raw GROUP BY key"
    ).to_arrow_table()
    return (
        class_values(class_of, _keys(entries.field("key")), integers(entries.field("n"))),
        table_values(_keys(one_array(table.column("key"))), integers(one_array(table.column("n")))),
    )


def _keys(keys: pa.Array) -> pa.Array:
    return keys.cast(pa.binary())


def _passed(request: AuditCall, name: str, level: float) -> bool | None:
    """Return whether a level is as required; None if nothing is required."""
    required = request.required[name]
    if required is None:
        return None
    if name == KAnonymity.name:
        return level >= required
    model = next(model for model in request.models if model.name == name)
    return not bool(model.fails(np.array([level]))[0])


def _missed(request: AuditCall, counted: AuditResult) -> list[str]:
    """Return what is required and not reached, as ``k = 1 (at least 5)``."""
    texts = []
    for name, level in counted.levels.items():
        if _passed(request, name, level) is False:
            reached, required = figures(level, float(request.required[name] or 0))
            most = name == TCloseness.name
            texts.append(f"{name} = {reached} ({'at most' if most else 'at least'} {required})")
    return texts


def _figure(number: float) -> str:
    return f"{number:,.0f}" if float(number).is_integer() else f"{number:.4f}"


def _show(source: Path, request: AuditCall, counted: AuditResult) -> None:
    """Print counts and levels; no value of the table."""
    noun, classes = request.noun, sum(count for _, count in counted.sizes)
    people = "" if counted.people is None else f" of {_many(counted.people, 'person')}"
    groups = many(classes, "group")
    by = together(request.quasi)
    console.say(f"{shown(source)}: {many(counted.rows, 'row')}{people}, {groups} by {by}")
    rows = []
    for name, level in counted.levels.items():
        required, passed = request.required[name], _passed(request, name, level)
        rows.append(
            (
                name,
                _figure(level),
                "" if required is None else _figure(required),
                {True: "met", False: "not met", None: ""}[passed],
                _meaning(request, counted, name),
            )
        )
    share = counted.unique / counted.counted
    alone = "rows" if request.entity is None else "people"
    meaning = f"{share:.1%} of all {alone}: {alone} without another in their group"
    rows.append(("unique", f"{counted.unique:,}", "", "", meaning))
    console.show_lines(("measure", "found", "required", "result", "meaning"), rows)
    console.say(f"The smallest groups, by {_plural(noun)} in a group:")
    console.show_lines(
        (f"{_plural(noun)}", "groups"),
        [(f"{size:,}", f"{count:,}") for size, count in counted.sizes[:SMALLEST]],
    )
    if request.entity is None:
        console.say("k counts rows. If a person can have several rows, pass --entity.")


def _meaning(request: AuditCall, counted: AuditResult, name: str) -> str:
    if name == KAnonymity.name:
        return f"{_plural(request.noun)} in the smallest group"
    column = counted.columns[name]
    if name == TCloseness.name:
        return f"largest distance of a group from the table, in {column}"
    kind = next(model.l_kind for model in request.models if isinstance(model, LDiversity))
    what = "different values" if kind == "distinct" else f"diversity ({kind})"
    return f"{what} of {column} in the least diverse group"


def _plural(noun: str) -> str:
    return "people" if noun == "person" else f"{noun}s"


def _many(count: int, noun: str) -> str:
    return many(count, noun) if count == 1 or noun != "person" else f"{count:,} people"


def _as_json(source: Path, request: AuditCall, counted: AuditResult) -> dict[str, Any]:
    """Return the same figures by name."""
    return {
        "file": str(source),
        "rows": counted.rows,
        "people": counted.people,
        "groups": sum(count for _, count in counted.sizes),
        "unique": counted.unique,
        "unique_share": counted.unique / counted.counted,
        "levels": [
            {
                "measure": name,
                "column": counted.columns.get(name),
                "found": level,
                "required": request.required[name],
                "passed": _passed(request, name, level),
            }
            for name, level in counted.levels.items()
        ],
        "smallest_groups": [
            {"size": size, "groups": count} for size, count in counted.sizes[:SMALLEST]
        ],
    }
