"""The rows of a raw table and of its release, as the SQL of an audit lists them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.arrow import integers, lists, plain
from anon_sql.calls.binding import HELPER
from anon_sql.measures.readings import Bools, Ints, Reading, read, stars
from anon_sql.roles import fold

Marks = npt.NDArray[np.uint64]
_QUASI, _MARK = HELPER + "quasi_", HELPER + "mark_"


@dataclass(frozen=True)
class Release:
    """n raw rows and m released rows in c classes.

    raw, classes: the lists by name; asked: what the call asks for.
    """

    asked: Mapping[str, Any]
    raw: Mapping[str, pa.Array]
    classes: Mapping[str, pa.Array]

    @property
    def rows(self) -> int:
        return len(self.raw[_MARK + HELPER + "zero"])

    @property
    def shown(self) -> int:
        return len(self.class_of)

    @property
    def left_out(self) -> int:
        return max(self.rows + int(self.asked["synthetic"]) - self.shown, 0)

    @cached_property
    def sizes(self) -> Ints:
        sizes: Ints = integers(self.classes[HELPER + "size"])
        return sizes

    @cached_property
    def numbers(self) -> Mapping[int, int]:
        """The place of a class by the number that SQL gave it."""
        return {n: at for at, n in enumerate(self.classes[HELPER + "class"].to_pylist())}

    @cached_property
    def class_of(self) -> Ints:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def starred(self) -> Bools:
        """Which classes have ``*`` in every quasi-identifier."""
        settled = zip(self.asked["quasi"], self.asked["typed"], strict=True)
        starred: Bools = np.all([stars(self.said(n), typed) for n, typed in settled], axis=0)
        return starred

    def said(self, name: str) -> pa.StructArray:
        return _named(self.classes, name)

    def raw_marks(self, name: str) -> Marks:
        marks: Marks = integers(_named(self.raw, _MARK + name))
        return marks

    def marks(self, name: str) -> Marks:
        """Of the released rows, class by class."""
        marks: Marks = integers(_named(self.classes, _MARK + name).flatten())
        return marks

    def hashes(self) -> tuple[Marks, Marks]:
        """Of each raw and each released row, over the columns that both have."""
        from anon_sql.kernels.hashing import mix

        ours, theirs = (np.zeros(n, dtype=np.uint64) for n in (self.rows, len(self.class_of)))
        for name in self.asked["shared"]:
            ours = mix(ours, self.raw_marks(name).view(np.int64))
            theirs = mix(theirs, self.marks(name).view(np.int64))
        return ours, theirs

    def readings(self, function: str, trees: Mapping[str, pa.StructArray | None]) -> list[Reading]:
        folded = {fold(name): listed for name, listed in trees.items()}
        settled = zip(*(self.asked[key] for key in ("quasi", "types", "typed")), strict=True)
        return [
            read(
                function,
                name,
                kind,
                _named(self.raw, _QUASI + name),
                self.said(name),
                typed,
                folded.get(fold(name)),
            )
            for name, kind, typed in settled
        ]

    def where(self, classes: Sequence[int] | Ints) -> str | None:
        """The labels of one of these classes: the first by how it reads."""
        at = pa.array(classes, pa.int64())
        columns = [
            self.said(name).field("shown").take(at).fill_null("NULL").to_pylist()
            for name in self.asked["quasi"]
        ]
        found = min(zip(*columns, strict=True), default=None)
        if found is None:
            return None
        return ", ".join(f"{n}: {x}" for n, x in zip(self.asked["quasi"], found, strict=True))


def release(asked: Any, raw: Any, classes: Any) -> Release:
    """raw: None where only the classes are looked at."""
    return Release(asked, {} if raw is None else _lists(raw), _lists(classes))


def _lists(argument: Any) -> dict[str, pa.Array]:
    """As ``arrow.lists``, with an empty array for the list of an empty relation."""
    found = lists(argument)
    return {
        name: plain(pa.array([], argument.type.field(name).type.value_type))
        if values is None
        else values
        for name, values in found.items()
    }


def _named(columns: Mapping[str, pa.Array], name: str) -> Any:
    return next(values for known, values in columns.items() if fold(known) == fold(name))
