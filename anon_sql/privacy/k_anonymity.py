"""k-anonymity: a class has at least k rows, or rows of k persons."""

from dataclasses import dataclass

from anon_sql.core.parameters import Whole, param
from anon_sql.privacy.model import Model


@dataclass(frozen=True)
class KAnonymity(Model):
    """Every class has at least k rows. The union of two classes has more."""

    name = "k"
    title = "k-anonymity"
    reference = "Sweeney 2002"
    holds = "Every combination of generalized values is shared by at least k rows."
    broken = "A person can be narrowed down to fewer rows than promised."

    k: int = param(5, Whole(1), "minimum number of rows in an equivalence class")
