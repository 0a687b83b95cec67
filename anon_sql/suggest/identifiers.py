"""Refuse to release columns by ``*`` that are suggested as identifiers."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from anon_sql.core.roles import REST
from anon_sql.errors import AnonError, Argument, Parameter, listed, looks_like_name
from anon_sql.pipeline.request import Request
from anon_sql.suggest.roles import Shape, suggested


def without_identifiers(request: Request, shapes: Sequence[Shape]) -> Request:
    """Return a request whose ``*`` releases no column that is suggested as an identifier.

    shapes: of the columns in ``rest``, which the result no longer has. Raises AnonError for
    identifiers, and for other columns than those.
    """
    reasons = identifiers_among(request.function, request.rest, shapes)
    refuse_identifiers(request.function, request.rest_parameter, reasons)
    return replace(request, rest={})


def identifiers_among(
    function: str, names: Collection[str], shapes: Sequence[Shape]
) -> dict[str, str]:
    """Return why each column is suggested as an identifier, by name of those that are.

    shapes: the columns of these names, as the rules see them. Raises AnonError for other columns.
    """
    if {shape.name for shape in shapes} != set(names):
        rule = "columns that only * releases must be looked at before"
        raise AnonError(function, rule, None, "please report this")
    suggestions = [(shape.name, suggested(shape)) for shape in shapes]
    return {
        name: suggestion.reason
        for name, suggestion in suggestions
        if suggestion and suggestion.role == "identifier"
    }


def refuse_identifiers(function: str, parameter: str, reasons: Mapping[str, str]) -> None:
    """Raise AnonError if a ``*`` would release columns that are suggested as identifiers.

    parameter: the one that has the ``*``. reasons: why each column is suggested, by its name.
    """
    if reasons:
        shown = list(filter(looks_like_name, reasons))  # a misread header consists of values
        raise AnonError(
            function,
            Argument(parameter, [REST]) + " must not release what looks like an identifier",
            ", ".join(f"{listed([name])} ({reason})" for name, reason in reasons.items()),
            "leave them out by "
            + Argument("identifiers", shown or [...])
            + ", or name them in "
            + Parameter(parameter)
            + " if they may leave",
        )
