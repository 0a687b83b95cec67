"""k-anonymity: a class has at least k rows, or rows of k persons."""

from dataclasses import dataclass

from anon_sql.core.parameters import Whole, param
from anon_sql.privacy.model import Model, many


@dataclass(frozen=True)
class KAnonymity(Model):
    """Every class has at least k rows. The union of two classes has more."""

    name = "k"
    title = "k-anonymity"
    reference = "Sweeney 2002"
    broken = "A person can be narrowed down to fewer rows than promised."

    k: int = param(5, Whole(1), "minimum number of rows in an equivalence class")

    @staticmethod
    def meaning(k: int | None, fewest: int, passed: bool | None, noun: str) -> str:
        """Return the sentence of an audit about the smallest class.

        k: None if it is only measured.
        fewest: what the smallest class has.
        passed: None if the class may have more.
        noun: what is counted.
        """
        smallest = f"the smallest class has {many(fewest, noun)}"
        if k is None:
            return f"T{smallest[1:]}; no k was required."
        if passed:
            return f"Every class has at least {many(k, noun)}; the smallest has {fewest:,}."
        if passed is None:
            smallest = f"the smallest class has at least {many(fewest, noun)}, and may have more"
        return f"T{smallest[1:]}; at least {k:,} {'is' if k == 1 else 'are'} required."
