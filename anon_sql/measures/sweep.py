"""Release one table with several methods, k and l, one after another, and measure each release.

``compare`` and ``tradeoff`` are built on it: each declares what it varies and what it measures. A
release that cannot be made is a row with a note, which is the sentence of its error.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import product
from math import isfinite
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.core import stopping
from anon_sql.core.common_parameters import IN_SQL
from anon_sql.core.parameters import Whole, kind, parameters_of, read_group, takes
from anon_sql.core.roles import fold
from anon_sql.core.running import Progress, Workers
from anon_sql.errors import AnonError, Argument, Parameter, did_you_mean
from anon_sql.measures.pair import require_any
from anon_sql.methods.legal_classes import protect
from anon_sql.methods.method import Call, Method, Partition, release_methods
from anon_sql.pipeline.partition import (
    Prepared,
    constraint_of,
    legal_partition,
    prepare,
    require_strata,
)
from anon_sql.pipeline.request import MAX_K, Request, Source
from anon_sql.privacy.constraint import Constraint
from anon_sql.privacy.l_diversity import LDiversity

WARM_UP_ROWS = 50  # of the run that compiles a method's kernels


@dataclass(frozen=True)
class Methods:
    """NULL, or one or several names of release methods; read as a tuple of names, NULL as None."""

    def read(self, function: str, name: str, value: Any) -> tuple[str, ...] | None:
        if value is None:
            return None
        listed = value if isinstance(value, list) else [value]
        if not listed:
            raise AnonError(function, Parameter(name) + " must name a method")
        return tuple(dict.fromkeys(_method(function, name, item) for item in listed))


@dataclass(frozen=True)
class OneMethod:
    """The name of one release method."""

    def read(self, function: str, name: str, value: Any) -> str:
        return _method(function, name, value)


@dataclass(frozen=True)
class SizeList:
    """A list of values without repeats; a value that cannot be a k becomes an error in its row."""

    def read(self, function: str, name: str, value: Any) -> tuple[Any, ...]:
        listed = list(value) if isinstance(value, (list, tuple)) else [value]
        if value is None or not listed:
            raise AnonError(
                function,
                Parameter(name) + " must be whole numbers",
                "NULL" if value is None else None,
            )
        return tuple(k for i, k in enumerate(listed) if k not in listed[:i])


@dataclass(frozen=True)
class MethodSettings:
    """NULL, or a struct of options by method; read as the own parameters of every method."""

    def read(self, function: str, name: str, value: Any) -> dict[str, Any]:
        if value is not None and not isinstance(value, dict):
            raise AnonError(
                function,
                Parameter(name) + " must be a struct of structs",
                kind(value),
                "write " + Argument(name, {"rayden": {"cut": "aligned"}}),
            )
        by_method = {_method(function, name, key): chosen for key, chosen in (value or {}).items()}
        return {
            name: _options(function, method, by_method.get(name))
            for name, method in release_methods().items()
        }


def _method(function: str, parameter: str, value: Any) -> str:
    methods = release_methods()
    if isinstance(value, str) and fold(value) in methods:
        return fold(value)
    text = isinstance(value, str)
    raise AnonError(
        function,
        Parameter(parameter) + " must name release methods",
        f"'{value}'" if text else kind(value),
        did_you_mean(value, methods) if text else "anon_methods() lists them",
    )


def _options(function: str, method: Method, chosen: Any) -> Any:
    if chosen is not None and not isinstance(chosen, dict):
        rule = Parameter("options") + f" of {method.name} must be a struct"
        raise AnonError(function, rule, kind(chosen))
    declared = parameters_of(method.takes)
    names = [name for name in declared if name not in IN_SQL]
    for name in chosen or {}:
        if name not in declared:
            hint = did_you_mean(name, names) if names else f"{method.name} has none of its own"
            rule = Parameter("options") + f" must name parameters of {method.name}"
            raise AnonError(function, rule, f"'{name}'", hint)
    defaults = {name: takes(method.name)[name].default for name in names}
    return read_group(method.takes, function, {**defaults, **(chosen or {})})


def comparable() -> dict[str, Method]:
    """Return the methods whose releases have the table's rows, by name."""
    return {name: method for name, method in release_methods().items() if not method.perturbative}


@dataclass(frozen=True)
class SweepTrial:
    """One release of a sweep.

    prepared: the rows, with the request of the method, its k and l. partition: of the rows, legal.
    seconds: inside the method alone.
    """

    prepared: Prepared
    partition: Partition
    seconds: float


class SweptTable:
    """A table that is prepared once for all releases.

    request: of the sweep, whose options have those of each method, by its name.
    """

    def __init__(self, source: Source, request: Request, paths: pa.StructArray | None) -> None:
        """Raise AnonError for values that labels cannot represent."""
        self.request = request
        self.prepared = prepare(source, request, paths)
        limits: dict[int | None, Constraint] = {None: self.prepared.call.constraint}
        self.limits = limits  # by l; None: that of the request
        table = self.prepared.table
        table.points, table.model  # noqa: B018 - made before any clock starts

    def request_of(self, method: str, k: int, level: int | None) -> tuple[Request, Call[Any]]:
        """Return the request and the call of one release.

        level: its l, None for that of the sweep. Raises AnonError for an l above 1 without a
        sensitive column.
        """
        request = replace(
            self.request,
            function=method,
            method=release_methods()[method],
            options=self.request.options.options[method],
            k=min(k, MAX_K),
        )
        if level is not None:
            if level > 1:
                require_any(method, request.sensitive)
                protected = request.protected or dict.fromkeys(request.sensitive, False)
                request = replace(request, protected=protected)
            others = (model for model in request.models if not isinstance(model, LDiversity))
            request = replace(request, models=(LDiversity(l=level), *others))
        if level not in self.limits:
            rows = self.prepared
            self.limits[level] = constraint_of(rows.source, request, rows.paths, rows.table.order)
        call = replace(
            self.prepared.call,
            function=method,
            constraint=self.limits[level].with_k(request.k),
            workers=Workers(method, request.threads),
            options=request.options,
        )
        return request, call

    def load(self, method: str, level: Any) -> None:
        """Run a method on a few rows, so that the time of compiling its kernels is not measured."""
        stopping.check(self.request.function)
        table = self.prepared.table
        part = np.arange(table.rows) < WARM_UP_ROWS
        try:
            level = None if level is None else min(size(method, level, "l"), 2)
            request, call = self.request_of(method, 2, level)
            some_rows, constraint = table.only(part), call.constraint.only(part)
            constraint.require(method, some_rows.rows)  # methods rely on it
            assert request.method is not None
            partition = request.method.run(
                some_rows, replace(call, constraint=constraint, strata=None)
            )
            protect(some_rows, partition.classes, constraint, call.workers)
        except AnonError:  # said in the rows of this method and l
            stopping.check(self.request.function)

    def trial(self, method: str, k: int, level: int | None = None) -> SweepTrial:
        """Return one release. Raises AnonError if it cannot be made."""
        request, call = self.request_of(method, k, level)
        table = self.prepared.table
        call.constraint.require(method, table.rows)
        require_strata(call, table.rows)
        started = time.perf_counter()
        partition = legal_partition(table, call, request.method)
        seconds = time.perf_counter() - started
        return SweepTrial(replace(self.prepared, request=request, call=call), partition, seconds)


Measure = Callable[[SweepTrial], Mapping[str, Any]]


def sweep(
    source: Source | None,
    request: Request,
    paths: pa.StructArray | None,
    measure_of: Callable[[SweptTable], Measure],
    nothing: Mapping[str, Any],
    *,
    methods: Sequence[str] | None,
    ks: Sequence[Any],
    ls: Sequence[Any] = (None,),
) -> list[dict[str, Any]]:
    """Return a row for each method, k and l, the last of them changing fastest.

    A row has ``method``, ``k``, ``l`` if it varies, ``seconds`` and the measures, or a ``note``
    instead if there is no release. source: None for a table without rows, whose measures are
    ``nothing``. measure_of: called once, for the measures of each release. methods: None for all
    that fit the table and add no rows to it. ls: None in it for the l of the request. Raises
    AnonError for values that labels cannot represent, and after Ctrl-C.
    """
    table = None if source is None else SweptTable(source, request, paths)
    measure = None if table is None else measure_of(table)

    def measures(method: str, *sizes: int) -> Mapping[str, Any]:
        if table is None or measure is None:
            return {"seconds": 0.0, **nothing}
        trial = table.trial(method, *sizes)
        return {"seconds": trial.seconds, **measure(trial)}

    names = methods or [
        name
        for name, candidate in comparable().items()
        if table is None or candidate.fits(table.prepared.table)
    ]
    rows = []
    with Progress(request.function, len(names) * len(ks) * len(ls)) as progress:
        for name, level in product(names, ls):
            progress.note = f"loads {name}"
            if table is not None and name in comparable():
                table.load(name, level)
        for name, k, level in product(names, ks, ls):
            sizes = {"k": k} if level is None else {"k": k, "l": level}
            progress.note = ", ".join([name, *(f"{n} = {value}" for n, value in sizes.items())])
            progress.advance(0)
            rows.append(_row(request.function, name, sizes, measures))
            progress.advance(1)
    return rows


def _row(
    function: str, method: str, sizes: Mapping[str, Any], measures: Callable[..., Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the row of a method, k and l, with a note where ``measures`` raises AnonError.

    Raises AnonError if the user has asked to stop.
    """
    row: dict[str, Any] = {"method": method}
    try:
        stopping.check(function)
        numbers = []
        for name, value in sizes.items():
            numbers.append(size(method, value, name))
            row[name] = numbers[-1] if numbers[-1] < 2**63 else None
        if method not in comparable():
            raise AnonError(
                method,
                f"{function} measures releases that add no rows",
                "a perturbative method",
                "sdka_stats shows what its release loses",
            )
        return {**row, **measures(method, *numbers)}
    except AnonError as error:
        stopping.check(function)
        return {**row, "note": str(error)}


def size(function: str, k: Any, name: str) -> int:
    """Return a k or l as a whole number of at least 1; a list of 5 and 2.5 holds both as decimals.

    name: of the parameter. Raises AnonError for any other value.
    """
    number = isinstance(k, (float, Decimal)) and isfinite(k) and int(k) == k
    return Whole(1).read(function, name, int(k) if number else k)
