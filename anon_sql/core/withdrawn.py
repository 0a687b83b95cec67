"""Refuse the parameters that promised more of a series of releases than it keeps."""

from collections.abc import Mapping
from typing import Any

from anon_sql.errors import AnonError

WITHDRAWN = ("invariant", "previous", "counterfeits")


def refuse_withdrawn(function: str, given: Mapping[str, Any]) -> None:
    """Raise AnonError if a withdrawn parameter is given; NULL, false and 0 ask for nothing.

    given: parameters by name.
    """
    asked = [name for name in WITHDRAWN if given.get(name) not in (None, False)]
    if asked:
        raise AnonError(
            function,
            "invariant, previous and counterfeits of release functions are withdrawn, since "
            "releases made with them disclose sensitive values together",
            " and ".join(asked),
            "release newcomers only, whom ledger_new selects (docs/releasing-again.md)",
        )
