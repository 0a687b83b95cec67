"""k-anonymity: a class has at least k rows, or rows of k persons (Sweeney 2002)."""

from dataclasses import dataclass

from anon_sql.core.parameters import Whole, param


@dataclass(frozen=True)
class KAnonymity:
    """Every class has at least k rows. The union of two classes has more."""

    k: int = param(5, Whole(1), "smallest size of an equivalence class, in rows")
