"""Compute ``classification`` from the grouped rows of both relations."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from anon_sql.core.arrow import first, integers, lists, one_list
from anon_sql.core.options import read
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb.calls.binding import HELPER
from anon_sql.hosts.duckdb.measuring import Given
from anon_sql.hosts.duckdb.registry import sql_type, udf
from anon_sql.queries.classify import OPTIONS, ROW, Groups, classification, target_of


@udf("__anon_classification", f"{sql_type(ROW)}[]")
def classified(call: Any, given: Any, raw: Any, released: Any) -> pa.Array:
    """Return accuracy and F-measure on the raw table and on the release, or raise AnonError.

    call: the options; given: see ``Given``; raw, released: see ``__anon_learned``.
    """
    asked, pair = first(call), Given("classification", given).pair()
    pair.losses  # noqa: B018 - labels that cannot be read are an error
    quasi = pair.roles.quasi
    options = read("classification", OPTIONS, asked)
    target = target_of(asked["target"], pair.types, quasi)
    tables = [
        _groups(data, lists(packed), quasi, target)
        for data, packed in (("raw", raw), ("released", released))
    ]
    found = classification(options, asked["positive"], pair.domains, tables[0], tables[1])
    return one_list(found, ROW)


def _groups(
    data: str, held: Mapping[str, pa.Array | None], quasi: Sequence[str], target: str
) -> Groups:
    """Return the grouped rows of one relation; data: 'raw' or 'released', for errors."""
    columns = {fold(name): values for name, values in held.items()}
    answers = columns.get(fold(f"{HELPER}target_{target}"))
    if answers is None:
        raise AnonError("classification", "both tables must have the target and rows", data)
    return Groups(
        {name: columns[fold(name)] for name in quasi},
        answers.to_pylist(),
        integers(columns[HELPER + "count"]),
    )
