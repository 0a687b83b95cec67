"""m-invariance: groups of sensitive values that every class shows whole, release after release.

Source: Xiao and Tao (2007), who require that all classes of a person show the same set of at least
m sensitive values. Departure: here the set is a function of the value. The values are split into
groups of at least l, and every class shows one or more groups whole, so that any intersection of
what several releases show about anybody is empty or has at least l values, whoever joined, left or
changed. Neither persons nor their earlier classes have to be known. A group of which a value has no
row in the table is an error unless counterfeit rows are asked for; see ``counterfeits``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.arrow import integers
from anon_sql.core.table import QuasiTable
from anon_sql.errors import AnonError
from anon_sql.pipeline.request import Request
from anon_sql.pipeline.source import Source
from anon_sql.pipeline.value_groups import Groups, earlier_groups, first_groups, large_groups

_KEY = "__anon_key_"
_NULL = b""


@dataclass(frozen=True)
class ValueGroups:
    """The groups of values that classes show whole.

    of_row: int32[n], the group of the value of each row in canonical order. lacking: the keys of
    the values that no row has, by group; empty for a group without any.
    """

    of_row: npt.NDArray[np.int32]
    lacking: Mapping[int, list[bytes]]


def invariant_groups(source: Source, request: Request, table: QuasiTable) -> ValueGroups | None:
    """Return the groups of values of an invariant release; None for a plain release.

    Raises AnonError, with the number of rows, for values whose groups cannot be shown whole.
    """
    if not request.options.get("invariant"):
        return None
    counterfeits = request.options["counterfeits"]
    name = _sensitive(request)
    keys = source.keys[name]
    coded = keys if pa.types.is_dictionary(keys.type) else keys.dictionary_encode()
    words, of_row = coded.dictionary.to_pylist(), integers(coded.indices.cast(pa.int32()))
    rows = np.bincount(of_row, minlength=len(words))
    counts = {word: int(n) for word, n in zip(words, rows, strict=True) if word != _NULL and n}
    least = int(request.l)
    before = (request.options["previous"] or {}).get("classes") or []
    earlier = _earlier(request.function, before, name, least)
    if not counterfeits:
        _require_whole(request.function, counts, earlier)
    known = {value for group in earlier for value in group}
    added = {value: n for value, n in counts.items() if value not in known}
    if (earlier or counterfeits) and 0 < len(added) < least:
        raise AnonError(
            request.function,
            f"values that previous does not show must be at least l, {least}, different ones",
            f"{sum(added.values()):,} rows with {len(added)}",
            "recode them, or leave these rows out",
        )
    groups = [*earlier, *first_groups(added, least, request.k)]
    used = [group for group in groups if any(value in counts for value in group)]
    groups = large_groups(used, counts, request.k)
    group_of = {value: at for at, group in enumerate(groups) for value in group}
    group = np.array([group_of.get(word, 0) for word in words], np.int32)
    lacking = {at: [v for v in values if v not in counts] for at, values in enumerate(groups)}
    return ValueGroups(np.asarray(group[of_row[table.order]]), lacking)


def _sensitive(request: Request) -> str:
    """Return the sensitive column of a call that can be invariant, or raise AnonError."""
    function = request.function
    if len(request.sensitive) != 1:
        rule = "invariant and previous need one sensitive column"
        raise AnonError(
            function, rule, str(len(request.sensitive)) if request.sensitive else "none"
        )
    if request.l < 2 or request.l_kind != "distinct":
        rule = "invariant and previous need l of at least 2 distinct values"
        raise AnonError(function, rule, f"l := {request.l:g} ({request.l_kind})", "pass l := 3")
    if request.strata:
        rule = "invariant and previous must come without strata"
        raise AnonError(function, rule, ", ".join(request.strata), "leave strata out")
    if request.options["suppression_limit"]:
        rule, got = "invariant and previous must come without suppressed rows", "suppression_limit"
        raise AnonError(function, rule, got, "leave suppression_limit out")
    return request.sensitive[0]


def _earlier(function: str, classes: Sequence[Any], name: str, least: int) -> Groups:
    """Return the groups of values in the classes of ``previous``, or raise AnonError."""
    shown = [{entry[_KEY + name] for entry in entries} - {_NULL} for entries in classes]
    if classes and not any(shown):
        raise AnonError(function, f"previous must show the values of {name}", "none")
    groups = earlier_groups(shown)
    short = sum(len(group) for group in groups if len(group) < least)
    if short:
        raise AnonError(
            function,
            f"previous must show each value with the same {least - 1} or more others everywhere",
            f"{short} that {'it does' if short == 1 else 'they do'} not",
            "begin a series with invariant := true and this l; a release that was made without it "
            "cannot be continued",
        )
    return groups


def _require_whole(function: str, counts: Mapping[bytes, int], groups: Groups) -> None:
    """Raise AnonError if a group of which there are rows lacks a value."""
    broken = [g for g in groups if any(v in counts for v in g) and any(v not in counts for v in g)]
    if broken:
        rows = sum(counts.get(value, 0) for group in broken for value in group)
        missing = sum(value not in counts for group in broken for value in group)
        raise AnonError(
            function,
            "every value must be shown with all that previous shows with it",
            f"{rows:,} row{'' if rows == 1 else 's'} for which {missing} of these values "
            f"{'is' if missing == 1 else 'are'} not in the table",
            "leave these rows out of this release, or pass counterfeits := true",
        )
