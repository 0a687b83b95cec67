"""One quasi-identifier of the raw table, and the conditions that a call puts on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import true
from anon_sql.core.printing import evaluated
from anon_sql.errors import AnonError
from anon_sql.measures.domain import Domain
from anon_sql.measures.readable import HINT

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Quasi:
    """A column with m conditions.

    ends: its smallest and its largest value, an array of two. values: its distinct values, NULL
    among them, where it is a text or the hierarchy names it; truths: bool[len(values), m], the
    conditions on each. conditions: SQL that ``query`` has let through, every name quoted;
    constants: what they compare the column with, as text. time_zone: of instants that constants
    write without one.
    """

    function: str
    domain: Domain
    ends: pa.Array
    values: pa.Array
    truths: Bools
    conditions: Sequence[str]
    constants: Sequence[str]
    time_zone: str

    @property
    def word_type(self) -> str:
        """The SQL type that conditions compare a text as."""
        kind = self.domain.sql_type
        return "VARCHAR" if kind.startswith("ENUM") else kind

    @cached_property
    def place_of(self) -> Mapping[str | None, int]:
        """The place of each text in ``values``."""
        values = self.values
        if pa.types.is_boolean(values.type):
            values = pc.if_else(values, "true", "false")
        return {word: place for place, word in enumerate(values.to_pylist())}

    def truth(self, values: pa.Array, sql_type: str) -> Bools:
        """Return which conditions hold for each value, cast to a SQL type, bool[n, m]."""
        name = self.domain.name
        try:
            found = evaluated({name: values}, [sql_type], self.conditions, self.time_zone)
        except ValueError:
            rule = "a condition must suit the type of its column"
            raise AnonError(self.function, rule, f"another on {name}") from None
        return np.column_stack([true(each) for each in found]).astype(np.bool_)

    def word_truth(self, words: Sequence[str | None]) -> Bools:
        """Return which conditions hold for each text, bool[n, m]; for those that the raw column
        holds as the user's database has evaluated them."""
        known = np.array([self.place_of.get(word, -1) for word in words], dtype=np.int64)
        found = np.zeros((len(words), len(self.conditions)), dtype=np.bool_)
        found[known >= 0] = self.truths[known[known >= 0]]
        strange = np.flatnonzero(known < 0)
        if len(strange):
            texts = pa.array([words[at] for at in strange.tolist()], pa.string())
            found[strange] = self.truth(texts, self.word_type)
        return found

    def other(self) -> AnonError:
        """The error for a label that covers nothing that the raw column holds."""
        rule = f"a label of {self.domain.name} must name what the raw table holds"
        return AnonError(self.function, rule, "one with nothing of it", HINT)
