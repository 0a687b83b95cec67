"""Judge a release by ``VERDICT``: red, amber or green, with a reason for each rule it breaks.

Red cannot be signed. Amber needs a sentence for every rule. Green has none.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from anon_sql.apps.manifest import is_required
from anon_sql.apps.verdict.criteria import is_told_anyway
from anon_sql.apps.verdict.figures import READABLE, Figure, Measured
from anon_sql.apps.verdict.words import CONSEQUENCE, NOT_COVERED, REMEDIES, UNCHANGED, percent
from anon_sql.attacks.criteria import INFERENCE, ISOLATION, LINKAGE
from anon_sql.audit.classes import FOREIGN
from anon_sql.audit.compared import BY_ADDED
from anon_sql.audit.parameters import PEOPLE
from anon_sql.errors import AnonError, did_you_mean, listed
from anon_sql.hosts.recipes import ACCEPTABLE
from anon_sql.hosts.statements import ENVIRONMENTS
from anon_sql.privacy import MODELS

RED, AMBER, GREEN = "red", "amber", "green"
HEADINGS = {
    RED: "Do not release this as it is",
    AMBER: "No check fails, but a decision is open",
    GREEN: "All required properties hold",
}
ACCEPTED = "No check fails, and the steward has accepted what is open"
FLOORS = dict(zip(ENVIRONMENTS, (11, 5, 5), strict=True))  # least k by environment
_PROMISED = tuple(model.name for model in MODELS)


@dataclass(frozen=True)
class Limit:
    """From which figure on a release is amber, and from which red; None for never.

    rule: that the sentence of a steward accepts. says: the reason, with {found}, {column} and
    {note}. remedy: what lifts it, with {column} and {note}. at_red, at_amber: whether the limit
    itself is red or amber, not only what is above it. source: where the limit comes from, in words.
    """

    rule: str
    says: str
    remedy: str
    amber: float | None
    red: float | None
    at_amber: bool = True
    at_red: bool = True
    source: str = "calibration on eight tables"

    def level(self, value: float) -> str | None:
        """Return the level of a figure; None below every limit."""
        levels = (RED, self.red, self.at_red), (AMBER, self.amber, self.at_amber)
        for level, limit, is_inclusive in levels:
            if limit is not None and (value > limit or (is_inclusive and value == limit)):
                return level
        return None


_MORE = "Require k = 2 or more."
_CLOSER = "Require a smaller t."
_LESS = "Choose a smaller k or l, a larger t, or fewer quasi-identifiers."
_RARE = Limit(
    "kept",
    "For {found} of the rows or people, fewer than k have the same values of the kept columns: "
    "an attacker who knows {note} of a person is left with few rows.",
    "Round {note}, declare them as quasi-identifiers, or leave them out.",
    *(0.01, 0.1),
)
_HIDDEN = "Require a larger k, or l = 2 and a smaller t."
_GAINED = (0.15, 0.25)  # of a gain, at its lower end: docs/measurements/gain.md
VERDICT: Mapping[str, Limit] = {
    ISOLATION: Limit(
        "isolation",
        "Single people are isolated: the gain over the control is at least {found}, by conditions "
        "that an attacker writes from the release ({note}).",
        _HIDDEN,
        *_GAINED,
    ),
    LINKAGE: Limit(
        "linkage",
        "Records are linked: the gain over the control is at least {found}, by an attacker with "
        "two sources of the same people ({note}).",
        _HIDDEN,
        *(0.01, 0.09),
        source="red: Health Canada, EMA Policy 0070; amber: calibration",
    ),
    INFERENCE: Limit(
        "inference",
        "The {column} is guessed: the gain over the control is at least {found}, by an attacker "
        "who knows the quasi-identifiers.",
        _HIDDEN,
        *_GAINED,
    ),
    "certain": Limit(
        "certain",
        "For {found} of the rows, all rows of the group have one {column}: an attacker who finds "
        "the group knows it, without knowing which row is the person's.",
        "Require l = 2 or more, or a smaller t.",
        *(0.0, 0.01),
        at_amber=False,
    ),
    "inferred": Limit(
        "inferred",
        "For {found} of the rows, nearly all rows of the group have one {column} that is less "
        "usual in the table: an attacker who finds the group can infer it.",
        _CLOSER,
        *(0.0, 0.01),
        at_amber=False,
    ),
    "lifted": Limit(
        "lifted",
        "For {found} of the rows, the {column} is at least five times as frequent in the group as "
        "in the table.",
        _CLOSER,
        *(0.05, None),
    ),
    "near": Limit(
        "near",
        "For {found} of the rows, the {column} of all rows of the group lies within a twentieth of "
        "the usual range: an attacker who finds the group knows it nearly.",
        _CLOSER,
        *(0.01, 0.1),
    ),
    "minimality": Limit(
        "minimality",
        "For {found} of the people, an attacker who knows the method and its parameters tells "
        "the {column} although the group does not.",
        "Make the release transparent, or require a larger l or k.",
        *(0.005, 0.05),
    ),
    "rare": _RARE,
    "rare_allowed": replace(_RARE, red=None),
    "determined": Limit(
        "kept",
        "For {found} of the rows, fewer than k of the group, or one sensitive value, remain for an "
        "attacker who computes {note} from the quasi-identifiers, which repeat it.",
        "Leave out {note}, or declare it as a quasi-identifier.",
        *(0.0, 0.05),
        at_amber=False,
    ),
    "revealing": Limit(
        "kept",
        "Sensitive values can be computed from kept ones: {note} avoids {found} of the errors of a "
        "reader who guesses.",
        "Declare {note} as sensitive too, or leave it out.",
        *(0.8, 0.95),
    ),
    "gcp": Limit(
        "gcp",
        "The quasi-identifiers have lost {found} of their detail.",
        _LESS,
        *(0.3, 0.5),
        at_amber=False,
        at_red=False,
    ),
    "sse_sst": Limit(
        "gcp",
        "The means or medians of a column have lost {found} of its variance.",
        _LESS,
        *(0.3, 0.5),
        at_amber=False,
        at_red=False,
    ),
    "query_error": Limit(
        "query_error",
        "The error of counts is {found} of that with all quasi-identifiers suppressed.",
        _LESS,
        *(0.5, 0.75),
    ),
    "columns": Limit(
        "columns",
        "{found} of the quasi-identifiers say next to nothing any more: {note}.",
        _LESS,
        *(0.0, 0.5),
        at_amber=False,
        at_red=False,
    ),
    "texts": Limit(
        "texts",
        "{column} is text although its values are {note}: its labels are sets of texts that span "
        "{found} of their range on average.",
        "Declare the notation of {column}, or convert it in SQL.",
        *(0.0, 0.3),
        at_amber=False,
        at_red=False,
    ),
    "sets": Limit(
        "sets",
        "For {found} of the rows, the label of {column} is a set of more than "
        f"{READABLE} values, too many to read.",
        "Give {column} a hierarchy, or leave it out.",
        *(0.05, 0.5),
        at_amber=False,
        at_red=False,
    ),
    "suppression_rate": Limit(
        "suppression", "{found} of the rows are suppressed.", _LESS, *(0.05, 0.2), at_amber=False,
        at_red=False,
    ),
    "distribution": Limit(
        "distribution",
        "The shares of the values of {column} have moved by {found} of the rows.",
        "Choose a smaller k, or suppressed = 'keep'.",
        *(0.02, 0.1),
        at_amber=False,
        at_red=False,
    ),
}  # fmt: skip
RULES = ACCEPTABLE


@dataclass(frozen=True)
class Reason:
    """Why a release is red or amber.

    found, sql: the figure, and the statement whose only value it is (an audit's is all its rows).
    accepted: the sentence of a steward, for an amber one. remedy: what lifts it.
    """

    level: str
    rule: str
    text: str
    sql: str
    found: float | None = None
    column: str | None = None
    accepted: str | None = None
    remedy: str = ""

    @property
    def sentence(self) -> str:
        """Return why, and what lifts it."""
        return f"{self.text} {self.remedy}".rstrip()

    def facts(self) -> dict[str, Any]:
        """Return what a report says; its text ends with the remedy."""
        facts = {**asdict(self), "text": self.sentence}
        del facts["remedy"]
        return facts


@dataclass(frozen=True)
class Verdict:
    """The level of a release, and its reasons, the red ones first."""

    level: str
    reasons: Sequence[Reason]

    @property
    def open(self) -> list[str]:
        """Return the amber rules that have no sentence."""
        rules = [each.rule for each in self.reasons if each.level == AMBER and not each.accepted]
        return list(dict.fromkeys(rules))

    def facts(self) -> dict[str, Any]:
        """Return what a report says."""
        settled = self.level == AMBER and not self.open
        return {
            "state": self.level,
            "heading": ACCEPTED if settled else HEADINGS[self.level],
            "reasons": [each.facts() for each in self.reasons],
            "not_covered": list(NOT_COVERED),
        }


def verdict(
    measured: Measured,
    *,
    accepted: Mapping[str, str] | None = None,
    limits: Mapping[str, Limit] = VERDICT,
    environment: str = "contract",
    confirmed: bool = True,
) -> Verdict:
    """Return the verdict on a release.

    accepted: a sentence by rule. limits: ``VERDICT``, or stricter ones. environment: of ``FLOORS``.
    confirmed: whether the roles were read.
    """
    sentences = accepted or {}
    broken_rules = [
        *_audited(measured),
        *(_beside_control(r, measured) for f in measured.figures for r in judged(f, limits)),
        *_alone(measured),
        *_chosen(measured, environment, confirmed),
    ]
    reasons = [
        replace(each, accepted=sentences.get(each.rule) or None) if each.level == AMBER else each
        for each in sorted(broken_rules, key=lambda each: each.level != RED)
    ]
    levels = {each.level for each in reasons}
    return Verdict(RED if RED in levels else AMBER if AMBER in levels else GREEN, reasons)


def stricter(
    function: str,
    overrides: Mapping[str, Mapping[str, Any]],
    known_limits: Mapping[str, Limit] = VERDICT,
) -> dict[str, Limit]:
    """Return known limits, made stricter. Raises AnonError for laxer or unknown ones.

    overrides: by name of a limit its ``amber`` and ``red``, either or both.
    """
    limits = dict(known_limits)
    for name, levels in overrides.items():
        if name not in limits:
            raise AnonError(
                function, "a limit must be one of VERDICT", f"'{name}'", did_you_mean(name, limits)
            )
        if not isinstance(levels, Mapping) or not levels or set(levels) - {AMBER, RED}:
            rule = f"the limit {name} must have amber, red or both"
            raise AnonError(function, rule, None, f"{name} = {{ amber = 0.1, red = 0.2 }}")
        for level, value in levels.items():
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            before = getattr(limits[name], level)
            most = 1.0 if before is None else before
            if not number or not 0 <= value <= most:
                rule = f"the limit {name} must be at most {most:g} for {level}"
                raise AnonError(function, rule, f"{value}" if number else type(value).__name__)
            limit = limits[name]
            limits[name] = (
                replace(limit, red=float(value))
                if level == RED
                else replace(limit, amber=float(value))
            )
    return limits


def judged(figure: Figure, limits: Mapping[str, Limit]) -> Iterator[Reason]:
    """Give the reason that a figure is, if it is one. What cannot be measured is amber."""
    limit = limits.get(figure.name)
    if limit is None:
        return
    if figure.value is None:
        if limit.rule == "gcp":
            text = "What the quasi-identifiers have lost cannot be measured."
            remedy = "Judge a release without added rows."
            yield Reason(AMBER, limit.rule, text, figure.sql, None, figure.column, remedy=remedy)
        return
    level = limit.level(figure.value)
    if level is not None:
        text = limit.says.format(
            found=percent(figure.value), column=figure.column, note=figure.note
        )
        yield Reason(
            level,
            limit.rule,
            text,
            figure.sql,
            figure.value,
            figure.column,
            remedy=limit.remedy.format(column=figure.column, note=figure.note),
        )


def _beside_control(reason: Reason, measured: Measured) -> Reason:
    """Return an amber reason in place of a red one for what the population tells anyway."""
    if reason.level != RED:
        return reason
    if not is_told_anyway(reason.rule, reason.found, reason.column, measured.gains):
        return reason
    text = (
        f"{reason.text} The same guess is right about as often for people of the control, who are "
        "not in the table: the population tells it."
    )
    return replace(reason, level=AMBER, text=text)


def _audited(measured: Measured) -> Iterator[Reason]:
    """Give what an audit finds; what fails is red, what is not decided is amber."""
    request, sql = measured.request, measured.audit_sql
    if not request["quasi"]:
        text = "No column is a quasi-identifier, so k protects no group of people."
        remedy = "Declare the columns that others may know as quasi-identifiers."
        yield Reason(RED, "audit", text, sql, remedy=remedy)
    if measured.without_role:
        names = measured.without_role
        many = "1 column" if len(names) == 1 else f"{len(names)} columns"
        text = f"{many} without a role can be read unchanged: {listed(names)}."
        yield Reason(RED, "audit", text, sql, remedy=REMEDIES["added_columns"])
    k = request.get("k")
    if k is not None and k < 2:
        text = "k is 1, so a person can be alone in a group."
        yield Reason(RED, "audit", text, sql, k, remedy=_MORE)
    if k is None:
        text = "No k was required, so no group size is promised."
        yield Reason(AMBER, "audit", text, sql, remedy="Require a k.")
    if measured.checks is None:
        text = "The release has not been audited."
        yield Reason(AMBER, "audit", text, sql, remedy="Audit it.")
    for check in measured.checks or ():
        yield from _of_check(check, sql, request)
    same, changed = len(measured.unchanged), len(measured.generalized)
    if same > changed:
        yield Reason(
            AMBER,
            "audit",
            f"{same} columns are released unchanged, more than the {changed} that are generalized. "
            "k does not protect people against an attacker who knows these values.",
            sql,
            remedy="Leave out the columns that the recipient does not need.",
        )


def _of_check(check: Mapping[str, Any], sql: str, request: Mapping[str, Any]) -> Iterator[Reason]:
    """Give the reason that a row of an audit is, if it is one."""
    name, figure, passed = check["property"], check["found"], check["passed"]
    unique = f"{percent(figure)} of the rows are unique on the columns kept unchanged"
    if name == PEOPLE:
        yield from _of_people(check, sql)
    elif passed is False:
        what = f"“{name}” fails: {check['meaning']}"
        if name == "identifying_combinations":
            what = f"{unique}."
        text = f"{what} {CONSEQUENCE[name]}"
        yield Reason(RED, "audit", text, sql, figure, remedy=REMEDIES[name])
    elif name == "identifying_combinations" and figure:
        text = f"{unique}, which this release allows. {CONSEQUENCE[name]}"
        yield Reason(AMBER, "audit", text, sql, figure, remedy=REMEDIES[name])
    elif passed is None and name in _PROMISED and is_required(name, check["required"]):
        text = f"Whether {name} holds cannot be decided: {check['meaning']}"
        yield Reason(AMBER, "audit", text, sql, figure, remedy=_of_undecided(check, request))
    elif name == "k" and figure is not None and figure < 2:
        yield Reason(RED, "audit", "A person is alone in a group.", sql, figure, remedy=_MORE)


def _of_undecided(check: Mapping[str, Any], request: Mapping[str, Any]) -> str:
    """Return what lifts the reason that a required level is not decided, by why it is not."""
    if check.get("example") == FOREIGN:
        return UNCHANGED
    if check["meaning"].endswith(BY_ADDED):
        return "Release without added rows, or leave out this requirement."
    if request.get("entity") is not None:
        return (
            "If a release function made this release with entity and this requirement, it holds: "
            "accept that in a sentence. Or release a table with one row per person."
        )
    return "Leave out this requirement."


def _of_people(check: Mapping[str, Any], sql: str) -> Iterator[Reason]:
    """Give the reason that it is if people have several rows."""
    figure, meaning, remedy = check["found"], check["meaning"], REMEDIES[PEOPLE]
    if check["passed"] is False:
        meaning, _, named = meaning.partition("; ")  # the audit names the column
        text = f"{CONSEQUENCE[PEOPLE]} {meaning.removesuffix('.')}."
        remedy = f"{named[:1].upper()}{named[1:]}" or remedy
        yield Reason(RED, PEOPLE, text, sql, figure, remedy=remedy)
    elif check["passed"] is None and check["required"] is not None:
        text = f"Whether classes have k people is undecided: {meaning}"
        yield Reason(AMBER, PEOPLE, text, sql, remedy=remedy)
    elif check["example"] and figure is None:  # the unit is a row, although people have several
        text = f"{meaning} The rows of one person are not counted once."
        remedy = f"Name {check['example']} as entity if it identifies people."
        yield Reason(AMBER, PEOPLE, text, sql, remedy=remedy)


def _alone(measured: Measured) -> Iterator[Reason]:
    """Give the columns for which a number of distinct values promises more than it keeps."""
    request = measured.request
    level = request.get("l") or 1
    t = request.get("t")
    others = [name for name in ("beta", "delta", "max_share") if request.get(name) is not None]
    if level <= 1 or others or (t is not None and t < 1):
        return
    if (request.get("l_kind") or "distinct") != "distinct":
        return
    for figure in measured.figures:
        if figure.name == "even_values" and figure.value is not None and figure.value < level:
            text = (
                f"l = {level:g} alone protects little: {figure.column} is as hard to guess as "
                f"{figure.value:.2f} equally frequent values."
            )
            of = figure.sql, figure.value, figure.column
            remedy = "Require t, beta or entropy too."
            yield Reason(AMBER, "l_alone", text, *of, remedy=remedy)


def _chosen(measured: Measured, environment: str, confirmed: bool) -> Iterator[Reason]:
    """Give what the steward has not decided, or decided to have less of."""
    request, sql = measured.request, measured.audit_sql
    if not request["sensitive"]:
        text = (
            "No column was named as sensitive, so nothing was checked about what a group "
            "discloses about its members."
        )
        remedy = "Declare the columns that must not become known as sensitive."
        yield Reason(AMBER, "choice", text, sql, remedy=remedy)
    k, floor = request.get("k"), FLOORS[environment]
    if k is not None and 2 <= k < floor:
        text = f"k is {k}; for the environment “{environment}” at least {floor} is usual."
        fewer = [name for name, least in FLOORS.items() if least <= k]
        remedy = f"Require k = {floor}"
        remedy += f", or choose the environment “{fewer[0]}”." if fewer else "."
        yield Reason(AMBER, "choice", text, sql, k, remedy=remedy)
    if not confirmed:
        text = "The roles of the columns are not confirmed."
        remedy = "Read them, and set confirmed = true."
        yield Reason(AMBER, "roles", text, sql, remedy=remedy)
