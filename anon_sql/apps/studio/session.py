"""What the person at the page has chosen, as the tables of a recipe, and what was found for it."""

import copy
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from anon_sql.apps.studio.source import NAME
from anon_sql.apps.verdict.figures import measured_of
from anon_sql.apps.verdict.remedies import can_try
from anon_sql.apps.verdict.rules import Verdict, stricter, verdict
from anon_sql.core.common_parameters import ROW, UNIT, Transparent
from anon_sql.core.parameters import parameters_of
from anon_sql.core.pseudonyms import KEY, MIN_KEY_BYTES, resolved
from anon_sql.core.roles import ROLES
from anon_sql.errors import AnonError, Parameter
from anon_sql.hosts import recipes
from anon_sql.hosts.recipes import FORM, Recipe, release_keys

NUMBERS = ("k", "l", "t", "beta", "suppression_limit")
WORDS = ("purpose", "recipient", "environment", "review_by")
LISTS = ("assumptions", "review")  # of the statement, an entry per line
TRANSPARENT, HOW = parameters_of(Transparent).values()
SLOW = 3.0  # seconds of a preview after which it runs on a button


@dataclass
class Session:
    """The choices, and the answers of the engine by what they answer.

    facts, columns: what the engine says of the source, empty until it has. tables: of the recipe.
    read: the columns whose role is confirmed. key: of the recipe that was loaded.
    """

    start: Path
    facts: dict[str, Any] = field(default_factory=dict)
    columns: list[dict[str, Any]] = field(default_factory=list)
    tables: dict[str, Any] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    slow: float = 0.0  # seconds of the last preview
    is_first: bool = False  # no method or parameter was chosen yet
    why_t: str = ""  # why t is not that of a first recipe
    key: str | None = None

    def open(self, facts: dict[str, Any], suggested: Mapping[str, Any]) -> None:
        """Take what the engine says of the source; choices that are there already are kept."""
        self.facts, self.columns = facts, suggested["columns"]
        if not self.tables:
            self.load(facts["tables"] or suggested["tables"])
            self.is_first = facts["tables"] is None

    @property
    def repeating(self) -> list[dict[str, Any]]:
        """Return the column by which people have several rows, with the figure of its values."""
        return [
            {"column": each["column_name"], "figure": each["figures"][0]}
            for each in self.columns
            if each["entity"]
        ]

    def begin(self, tried: Mapping[str, Any]) -> None:
        """Take l and t of a first recipe, as trials gave them, unless the user has chosen since."""
        if self.is_first:
            self.tables["release"], self.why_t = tried["release"], tried["why"]
        self.is_first = False

    def load(self, tables: Mapping[str, Any]) -> None:
        """Take the tables of a recipe."""
        self.is_first, self.why_t = False, ""
        roles = {role: list(tables["roles"].get(role, [])) for role in ROLES}
        self.tables = {**copy.deepcopy(dict(tables)), "roles": roles}
        for name in ("release", "statement", "accepted", "hierarchies"):
            self.tables[name] = dict(self.tables.get(name) or {})
        self.key = self.tables["release"].get("key")
        self.read = set(self.facts["columns"]) if tables["roles"].get("confirmed") else set()

    @property
    def names(self) -> list[str]:
        """Return the columns of the source."""
        return list(self.facts.get("columns", ()))

    @property
    def unread(self) -> int:
        """Return how many roles are not confirmed."""
        return len(self.names) - len(self.read)

    def role(self, name: str) -> str:
        """Return the role of a column, '' for none."""
        return next((role for role in ROLES if name in self.tables["roles"][role]), "")

    @property
    def suggested(self) -> list[str]:
        """Return the columns that are suggested as quasi-identifiers."""
        return [each["column_name"] for each in self.columns if each["role"] == "quasi"]

    @property
    def can_release(self) -> bool:
        """Return whether there is a table to release, and a column to generalize."""
        return not self.empty and bool(self.tables["roles"]["quasi"])

    @property
    def empty(self) -> str:
        """Return why no release of the table is of use, '' where one can be."""
        if not self.facts["rows"]["value"]:
            return "The table has no rows: there is nothing to release."
        if len(self.names) == 1:
            return "The table has one column: a release of it is a list of counts. Count instead."
        return ""

    @property
    def transparent(self) -> str:
        """Return how the release is transparent, one of the choices; '' if it is not."""
        release = self.tables["release"]
        return str(release.get(HOW.name, HOW.default)) if release.get(TRANSPARENT.name) else ""

    @property
    def lacks_key(self) -> str:
        """Return why no release can be transparent, '' if there is a key for one."""
        key = self.tables["release"].get("key") or KEY
        try:
            resolved(NAME, key)
        except AnonError:
            return (
                f"A limit needs a secret key: set the environment variable {key.partition(':')[2]} "
                f"to at least {MIN_KEY_BYTES} random bytes, and start the studio again."
            )
        return ""

    @property
    def recipe(self) -> dict[str, Any]:
        """Return the tables of the recipe as they are written."""
        roles = {"confirmed": self.unread == 0, **self.tables["roles"]}
        accepted = {rule: why for rule, why in self.tables["accepted"].items() if why.strip()}
        return {**self.tables, "roles": roles, "accepted": accepted}

    @property
    def parsed(self) -> Recipe:
        """Return the recipe. Raises AnonError for choices that none can have."""
        return recipes.parse(NAME, self.start / "recipe.toml", {"recipe": FORM, **self.recipe})

    @property
    def choice(self) -> str:
        """Return a name of what decides about the rows of the release."""
        return self._named(self.tables.get("release"))

    def choice_of(self, answer: str) -> str:
        """Return a name of what decides about an answer: other k are compared whatever k is, and
        remedies are those of one verdict."""
        release, environment = self.tables["release"], self.tables["statement"].get("environment")
        if answer == "compare":
            others = {n: value for n, value in release.items() if n not in ("k", "l")}
            return self._named(others, environment)
        if answer == "remedies":
            return self._named(release, environment, self.judged_by)
        return self.choice

    def _named(self, *parts: Any) -> str:
        parts += tuple(self.tables.get(name) for name in ("source", "roles", "hierarchies"))
        text = json.dumps(parts, sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]

    def keep(self, name: str, answer: dict[str, Any], choice: str) -> None:
        """Keep an answer; the last of each kind."""
        self.answers[name] = {**answer, "choice": choice}

    def released(self, choice: str | None, *, quick: bool = False) -> None:
        """Keep of which choice the engine has a release, None for none.

        there: a quick one, which attacks and verdict are asked about; rows: any.
        """
        for name, is_made in (("there", quick), ("rows", True)):
            self.answers.pop(name, None)
            if choice is not None and is_made:
                self.answers[name] = {"choice": choice}

    def answer_for(self, name: str) -> dict[str, Any] | None:
        """Return the answer of a kind for the present choice, if it is there."""
        answer = self.answers.get(name)
        there = answer is not None and answer["choice"] == self.choice_of(name)
        return answer if there else None

    @property
    def judged_by(self) -> str | None:
        """Return which answer the verdict on the present choice judges; None before any."""
        return next((name for name in ("check", "attacks") if self.answer_for(name)), None)

    @property
    def trials(self) -> str:
        """Return when it is tried what lifts the reasons of the verdict: now, or on a button.

        '' if that was done, or if no trial says it.
        """
        judged = self.judged()
        if judged is None or self.answer_for("remedies") or not can_try(judged[0]):
            return ""
        there = self.answers.get("rows") == {"choice": self.choice}
        quick = self.judged_by == "check" or self.slow <= SLOW
        return "now" if there and quick else "asked"

    def judged(self) -> tuple[Verdict, bool] | None:
        """Return the verdict on the present choice and whether it is audited; None before any.

        Its reasons end with what was tried, if that is there.
        """
        answer = self.answer_for(self.judged_by or "")
        if answer is None:
            return None
        measured = measured_of(answer["measured"])
        recipe = self.parsed
        judgment = verdict(
            measured,
            accepted=recipe.accepted,
            limits=stricter(NAME, recipe.stricter),
            environment=recipe.environment,
            confirmed=recipe.confirmed,
        )
        tried = (self.answer_for("remedies") or {"reasons": []})["reasons"]
        ends = {(each["level"], each["rule"], each["text"]): each["remedy"] for each in tried}
        reasons = [
            replace(each, remedy=ends.get((each.level, each.rule, each.text), each.remedy))
            for each in judgment.reasons
        ]
        return replace(judgment, reasons=reasons), measured.checks is not None

    def apply(self, name: str, value: Any, columns: Sequence[str] = ()) -> None:
        """Take one choice. Raises AnonError for one that cannot be, and changes nothing then.

        columns: those that it is of, for roles, weights, hierarchies and what was read.
        """
        if unknown := [each for each in columns if each not in self.names]:
            raise AnonError(NAME, "a column must be one of the table", f"'{unknown[0]}'")
        before, read = copy.deepcopy(self.tables), set(self.read)
        try:
            self._apply(name, value, list(columns))
            _ = self.parsed
        except (AnonError, ValueError, TypeError, KeyError) as error:
            self.tables, self.read = before, read
            if isinstance(error, AnonError):
                raise
            raise AnonError(NAME, f"{name} must be of another kind") from None

    def _apply(self, name: str, value: Any, columns: list[str]) -> None:
        if name in NUMBERS or name == "method":
            self.is_first = False
            self.why_t = "" if name in ("t", "method") else self.why_t
        if name in NUMBERS:
            _set(self.tables["release"], name, _number(value))
        elif name in WORDS:
            self.tables["statement"][name] = str(value)
        elif name.startswith("accepted:"):
            self.tables["accepted"][name.partition(":")[2]] = str(value)
        elif name in ("role", "unseen_role", "read", "weight", "hierarchy"):
            self._of_columns(name, value, columns)
        else:
            self._of_release(name, value)

    def _of_release(self, name: str, value: Any) -> None:
        release = self.tables["release"]
        if name == "method":
            keys = release_keys(str(value))
            if self.transparent:
                _require_transparent(keys, str(value))
            left = {key: each for key, each in release.items() if key in keys}
            self.tables["release"] = {**left, "method": str(value)}
        elif name == "entity":
            _set(release, "entity", value or None)
            rows_of_people = not value and self.repeating
            _set(release, UNIT, ROW if rows_of_people else None)
            if value:
                self._of_columns("role", "identifier", [str(value)])
        elif name == TRANSPARENT.name:
            self._set_transparent(str(value))
        elif name in LISTS:
            lines = (line.strip() for line in str(value).splitlines())
            self.tables["statement"][name] = [line for line in lines if line]
        else:
            raise AnonError(NAME, "a choice must be a known one", f"'{name}'")

    def _set_transparent(self, how: str) -> None:
        """Make the release transparent, with a key; or not, with the key that was there before."""
        release = self.tables["release"]
        if how:
            HOW.accepts.read(NAME, HOW.name, how)
            method = release.get("method", "anonymize")
            _require_transparent(release_keys(method), method)
            if self.lacks_key:
                raise AnonError(NAME, self.lacks_key)
        _set(release, TRANSPARENT.name, True if how else None)
        _set(release, HOW.name, how if how not in ("", HOW.default) else None)
        _set(release, "key", (release.get("key") or KEY) if how else self.key)

    def _of_columns(self, name: str, value: Any, columns: list[str]) -> None:
        if name in ("role", "unseen_role"):
            self._set_role(columns, str(value))
            seen = set(columns) if name == "role" else set()  # others are not confirmed
            self.read = self.read - set(columns) | seen
        elif name == "read":
            self.read = self.read | set(columns) if value else self.read - set(columns)
        elif name == "weight":
            weights = dict(self.tables["release"].get("weights") or {})
            for column in columns:
                weight = _number(value)
                _set(weights, column, None if weight == 1 else weight)
            _set(self.tables["release"], "weights", weights or None)
        else:
            for column in columns:
                path = self.facts["hierarchies"][column] if value else None
                _set(self.tables["hierarchies"], column, path)

    def _set_role(self, columns: list[str], role: str) -> None:
        if role not in ROLES:
            raise AnonError(NAME, f"a role must be one of {', '.join(ROLES)}", f"'{role}'")
        roles = {column: self.role(column) for column in self.names}
        roles |= dict.fromkeys(columns, role)
        self.tables["roles"] = {
            each: [column for column in self.names if roles[column] == each] for each in ROLES
        }
        quasi = self.tables["roles"]["quasi"]
        weights = {
            n: w for n, w in (self.tables["release"].get("weights") or {}).items() if n in quasi
        }
        _set(self.tables["release"], "weights", weights or None)
        trees = self.tables["hierarchies"]
        self.tables["hierarchies"] = {n: each for n, each in trees.items() if n in quasi}


def _require_transparent(keys: Sequence[str], method: str) -> None:
    """Raise AnonError unless a method can make transparent releases. keys: its parameters."""
    if TRANSPARENT.name not in keys:
        rule = Parameter(TRANSPARENT.name) + " needs a method that makes groups of rows"
        got = f"{method}, which generalizes whole columns"
        raise AnonError(NAME, rule, got, "choose another method, or “no limit”")


def _number(value: Any) -> int | float | None:
    """Return what a field of numbers holds, None for nothing. Raises ValueError for other texts."""
    if value in ("", None):
        return None
    number = float(value)
    return int(number) if number.is_integer() else number


def _set(table: dict[str, Any], name: str, value: Any) -> None:
    """Set a key, or remove it for None."""
    if value is None:
        table.pop(name, None)
    else:
        table[name] = value
