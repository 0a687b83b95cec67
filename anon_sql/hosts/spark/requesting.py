"""Make the request of a call from its parameters, as the macro of the same name would."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from anon_sql import methods
from anon_sql.core.roles import assign, including
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb.parameters import with_defaults
from anon_sql.hosts.spark.frame import Frame
from anon_sql.pipeline.request import Request, entity_of, request, require_size

ROLES = ("qids", "sensitive", "identifiers", "keep")
_LISTS = ("attribute", "value", "level", "label")


def requested(function: str, frame: Frame, given: Mapping[str, Any], time_zone: str) -> Request:
    """Return the request of a call.

    given: the parameters of the SQL function by name; those that are left out have its defaults.
    time_zone: of the session. Raises AnonError for other names, and as ``request`` does.
    """
    asked = {name: _listed(value) for name, value in with_defaults(function, given).items()}
    size = require_size(function, asked.pop("k"))
    entity = entity_of(function, asked.pop("entity"), frame.names)
    roles = {name: asked.pop(name) for name in ROLES}
    if entity is not None:
        roles["identifiers"] = including(roles["identifiers"], entity)
    asked.pop("hierarchy")
    return request(
        function,
        methods.find(function),
        frame.types,
        assign(function, frame.names, frame.comments, roles),
        size,
        asked,
        entity=entity,
        complete=True,
        threads=1,
        time_zone=time_zone,
    )


def hierarchy_rows(function: str, hierarchy: Any) -> pa.StructArray | None:
    """Return the rows of a hierarchy that have a value and a label; None without a hierarchy.

    hierarchy: a DataFrame of Spark or pandas or an Arrow table with the columns attribute, value,
    level and label. Raises AnonError for anything else.
    """
    if hierarchy is None:
        return None
    table = hierarchy.toArrow() if hasattr(hierarchy, "toArrow") else hierarchy
    if hasattr(table, "to_dict") and not isinstance(table, pa.Table):
        table = pa.Table.from_pandas(table, preserve_index=False)
    if not isinstance(table, pa.Table) or not {*_LISTS} <= {*table.column_names}:
        raise AnonError(
            function,
            "hierarchy must be a DataFrame with attribute, value, level and label",
            "columns without them" if isinstance(table, pa.Table) else type(hierarchy).__name__,
        )
    kinds = (pa.string(), pa.string(), pa.int32(), pa.string())
    parts = [
        table.column(name).combine_chunks().cast(kind)
        for name, kind in zip(_LISTS, kinds, strict=True)
    ]
    rows = pa.StructArray.from_arrays(parts, names=list(_LISTS))
    return rows.filter(pc.and_(parts[1].is_valid(), parts[3].is_valid()))


def _listed(value: Any) -> Any:
    """Return a tuple as a list, in which the core takes names."""
    return list(value) if isinstance(value, tuple) else value
