"""Assign one role to each column, from tags in column comments and the parameters of a call.

Roles decide which columns are dropped, generalized or protected, so nothing is guessed: an unknown
tag, a name that is not a column and two roles for one column in a call are errors.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from anon_sql.errors import (
    COMMENTS,
    AnonError,
    Argument,
    Parameter,
    Where,
    did_you_mean,
    listed,
)

ROLES = ("identifier", "quasi", "sensitive", "keep", "exclude")
_TAGS = {f"anon:{role}": role for role in ROLES}
_TAG_PATTERN = re.compile(
    r"""[\w-]*anon[\w.-]*(?:\s*|[^\w:]{0,3}):"""  # anon before a colon, in quotes or a longer word
    r"""\s*[^\s,;.:!?()\[\]{}<>"'“”„«»`]*""",  # the role, up to a blank or a sign that ends a word
    re.IGNORECASE,
)
_LOOKALIKES = str.maketrans("аαоο∶꞉ː", "aaoo:::")  # noqa: RUF001 - letters and colons that look alike
_INVISIBLE = ("Cf", "Mn")  # formats, such as the zero-width space, and combining accents


def tag(comment: str | None) -> str | None:
    """Return the role that a comment declares, or None.

    Whatever contains ``anon`` before a colon, in any case, with blanks, signs or invisible
    characters or within another word, is meant as a tag. Raises ValueError if it is not the exact
    tag of a role, and for two roles.
    """
    if not comment:
        return None
    written, meant = _like(comment), _like(_plain(comment))
    if wrong := written - set(_TAGS) or meant - set(_TAGS):
        got = " ".join(min(wrong).split())
        raise ValueError(f"the tag {got} is not one of {', '.join(_TAGS)}")
    if hidden := meant - written:
        raise ValueError(f"the tag {min(hidden)} must be written in plain ASCII characters")
    if len(meant) > 1:
        raise ValueError(f"the tags {' and '.join(sorted(meant))} exclude each other")
    return next((_TAGS[text] for text in meant), None)


def clear_tag(comment: str | None) -> str | None:
    """Return the role that a comment declares; None also if ``tag`` rejects the comment.

    ``assign`` raises AnonError for a comment that ``tag`` rejects.
    """
    try:
        return tag(comment)
    except ValueError:
        return None


def has_tag(comment: str | None) -> bool:
    """Return whether anything in a comment is meant as a tag, clear or not."""
    return comment is not None and bool(_like(_plain(comment)))


def without_tags(comment: str | None) -> str:
    """Return a comment without whatever is meant as a tag."""
    rest = _TAG_PATTERN.sub("", comment or "")
    return _TAG_PATTERN.sub("", _plain(rest)) if has_tag(rest) else rest


def _like(text: str) -> set[str]:
    """Return the parts of a text that look like tags."""
    return {part.rstrip() for part in _TAG_PATTERN.findall(text)}


def _plain(text: str) -> str:
    """Return a text without invisible characters, with ASCII for characters that look like it."""
    ascii_text = unicodedata.normalize("NFKD", text).translate(_LOOKALIKES)
    return "".join(char for char in ascii_text if unicodedata.category(char) not in _INVISIBLE)


PARAMETER = {
    "identifier": "identifiers",
    "quasi": "quasi",
    "sensitive": "sensitive",
    "keep": "keep",
    "exclude": "exclude",
}
UNCHANGED = ("sensitive", "keep")  # roles of columns that are released as they are
REST = "*"  # in one of the parameters: every column that has no other role
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def fold(name: str) -> str:
    """Return a name with ASCII letters in lower case, the form in which DuckDB compares names."""
    return name.lower() if name.isascii() else name.translate(_ASCII_LOWER)


@dataclass(frozen=True)
class Roles:
    """The columns of each role, spelled as in the table; ``quasi`` in the order of the call.

    exclude: columns that are left out although they are not identifiers.
    none: columns without a role.
    source: 'comment' or 'call', by name of each column with a role.
    rest: the columns that are released as they are because of a ``*`` alone.
    """

    identifier: tuple[str, ...] = ()
    quasi: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    none: tuple[str, ...] = ()
    source: Mapping[str, str] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()

    @property
    def rest_parameter(self) -> str:
        """Return the parameter whose ``*`` releases the columns of ``rest`` as they are."""
        return PARAMETER["sensitive" if set(self.rest) & {*self.sensitive} else "keep"]

    @property
    def left_out(self) -> tuple[str, ...]:
        """Return the columns that a release does not have."""
        return (*self.identifier, *self.exclude)


def named(
    function: str,
    parameter: str,
    value: object,
    columns: Mapping[str, str],
    what: str = "columns of the table",
) -> list[str] | None:
    """Return the columns that a parameter names, spelled as in the table; None if it is NULL.

    columns: names by folded name; what: what they are, for errors. Raises AnonError for anything
    but distinct column names.
    """
    if value is None:
        return None
    names = (
        [value] if isinstance(value, str) else list(value) if isinstance(value, Iterable) else []
    )
    if not isinstance(value, (str, list)) or not all(isinstance(name, str) for name in names):
        raise AnonError(
            function, Parameter(parameter) + " must be a list of column names", type(value).__name__
        )
    named_columns: list[str] = []
    for name in names:
        column = columns.get(fold(name))
        if column is None:
            raise AnonError(
                function,
                Parameter(parameter) + f" must name {what}",
                f"'{name}'",
                _separate(name, columns) or did_you_mean(name, columns.values()),
            )
        if column in named_columns:
            rule = Parameter(parameter) + " must name each column once"
            raise AnonError(function, rule, f"'{name}' twice")
        named_columns.append(column)
    return named_columns


def _separate(name: str, columns: Mapping[str, str]) -> str | None:
    """Return a hint if a name is several names of columns with commas in between."""
    parts = [columns.get(fold(part.strip())) for part in name.split(",")]
    if len(parts) < 2 or None in parts:
        return None
    written = ", ".join(f"'{part}'" for part in parts)
    return f"write each name as a text of its own, [{written}]"


def assign(
    function: str,
    names: Sequence[str],
    declared: Mapping[str, str | None],
    arguments: Mapping[str, object],
    *,
    needs_quasi: bool = True,
    dropped: Iterable[str] = (),
) -> Roles:
    """Return the roles of the columns ``names``.

    A role from the call replaces the declared one, see ``overriding``. Raises AnonError if the call
    gives a column two roles, if a name is not a column, or if a required quasi-identifier is
    missing.

    declared: comment of each column by folded name.
    arguments: value of each parameter by name; NULL means that the comments apply, and ``*`` in one
        of them stands for every column without another role.
    needs_quasi: whether at least one quasi-identifier is required.
    dropped: columns that a release leaves out in addition to identifiers, for which ``*`` does not
        stand.
    """
    columns = {fold(name): name for name in names}
    role_of = tagged(function, names, declared)
    source = dict.fromkeys(role_of, "comment")
    arguments, rest = _without_rest(function, arguments, columns)
    members_of = {
        role: named(function, PARAMETER[role], arguments.get(PARAMETER[role]), columns)
        for role in ROLES
    }
    if members_of["quasi"] is not None:
        _require_declared_quasi(function, role_of, members_of)
    for role, members in members_of.items():
        for name in members or []:
            if source.get(name) == "call":
                raise AnonError(
                    function,
                    "a column has one role",
                    f"{name} as {role_of[name]} and as {role}",
                    "leave it out of " + Parameter(PARAMETER[role]),
                )
            role_of[name] = overriding(function, listed([name]), role_of.get(name), role)
            source[name] = "call"
    folded_dropped = {fold(name) for name in dropped}
    others = (
        [n for n in names if n not in role_of and fold(n) not in folded_dropped] if rest else []
    )
    role_of |= dict.fromkeys(others, rest or "")
    source |= dict.fromkeys(others, "call")
    other_quasi = others if rest == "quasi" else []
    named_quasi = members_of["quasi"]
    quasi = (
        [*named_quasi, *other_quasi]
        if named_quasi is not None
        else [*_having("quasi", names, role_of)]
    )
    if needs_quasi and not quasi:
        raise AnonError(
            function,
            "at least one quasi-identifier is needed",
            None,
            "pass "
            + Argument("quasi", ["age", ...])
            + Where(COMMENTS, " or declare it: COMMENT ON COLUMN t.age IS 'anon:quasi'"),
        )
    return Roles(
        identifier=_having("identifier", names, role_of),
        quasi=tuple(quasi),
        sensitive=_having("sensitive", names, role_of),
        keep=_having("keep", names, role_of),
        exclude=_having("exclude", names, role_of),
        none=tuple(n for n in names if n not in role_of),
        source=source,
        rest=tuple(others) if rest in UNCHANGED else (),
    )


def _require_declared_quasi(
    function: str, role_of: Mapping[str, str], members_of: Mapping[str, Sequence[str] | None]
) -> None:
    """Raise AnonError if a call that names quasi-identifiers does not name a declared one.

    role_of: the declared role of each column; members_of: the columns that the call names, by role.
    """
    named_anywhere = {name for members in members_of.values() for name in members or []}
    for name in [n for n, role in role_of.items() if role == "quasi"]:
        if name not in named_anywhere:
            raise AnonError(
                function,
                "a declared quasi-identifier must be in "
                + Parameter("quasi")
                + " or in "
                + Parameter("keep"),
                f"neither for {name}",
                "add it to one of them, for example " + Argument("keep", [name]),
            )


def overriding(function: str, column: str, declared: str | None, called: str) -> str:
    """Return the role of a column that a call names.

    The call wins, but a declared identifier stays one: raises AnonError if the call would release
    it.

    column: as errors name it.
    declared: its role in the comment, None without one.
    called: its role in the call.
    """
    if declared != "identifier":
        return called
    if called not in ("identifier", "exclude"):
        raise AnonError(
            function,
            "a declared identifier must not be released",
            f"{column} in " + Parameter(PARAMETER[called]) + ": its comment says anon:identifier",
            "change the comment if it may leave",
        )
    return declared


def tagged(
    function: str, names: Sequence[str], declared: Mapping[str, str | None]
) -> dict[str, str]:
    """Return the roles that comments declare, by column. Raises AnonError for one not clear.

    declared: comment of each column by folded name.
    """
    role_of: dict[str, str] = {}
    for name in names:
        try:
            declared_role = tag(declared.get(fold(name)))
        except ValueError as wrong:
            raise AnonError(
                function, f"the comment on column {name} is not clear", str(wrong)
            ) from None
        if declared_role:
            role_of[name] = declared_role
    return role_of


def including(names: object, column: str) -> object:
    """Return the names that a parameter gives with one column more, if it is not among them.

    What is neither a name nor a list of names is returned as it is.
    """
    listed = [names] if isinstance(names, str) else names or []
    if not isinstance(listed, list) or fold(column) in {fold(str(name)) for name in listed}:
        return names
    return [*listed, column]


def _without_rest(
    function: str, arguments: Mapping[str, object], columns: Mapping[str, str]
) -> tuple[Mapping[str, object], str | None]:
    """Return the parameters of a call without ``*``, and the role it was given to, if any."""
    roles = [role for role in ROLES if has_rest(PARAMETER[role], arguments.get(PARAMETER[role]))]
    if not roles:
        return arguments, None
    parameter = PARAMETER[roles[0]]
    if len(roles) > 1:
        rule = Argument(parameter, [REST]) + " must be the only * of a call"
        raise AnonError(function, rule, "another in " + Parameter(PARAMETER[roles[1]]))
    if REST in columns:
        rule = Argument(parameter, [REST]) + " must be clear"
        raise AnonError(function, rule, "a column named *", "rename it")
    value = arguments[parameter]
    listed_names = value if isinstance(value, list) else [value]
    return {**arguments, parameter: [n for n in listed_names if n != REST]}, roles[0]


def has_rest(parameter: str, value: object) -> bool:
    """Return whether a parameter is ``*``, or in keep holds it.

    Beside other names in another parameter it is the name of a column.
    """
    is_listed = isinstance(value, list) and REST in value
    return value in (REST, [REST]) or (is_listed and parameter == PARAMETER["keep"])


def _having(role: str, names: Sequence[str], role_of: Mapping[str, str]) -> tuple[str, ...]:
    """Return the columns that have a role, in the order of the table."""
    return tuple(name for name in names if role_of.get(name) == role)
