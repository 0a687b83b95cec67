"""Release classes that come with the table: the last step, for a partition made elsewhere."""

from anon_sql.core.common_parameters import Seed, StrataColumns, Weights
from anon_sql.core.table import QuasiTable
from anon_sql.errors import AnonError
from anon_sql.methods.method import BY_NODES, Call, GivenClasses, Partition, method


@method(
    "generalize",
    takes=GivenClasses,
    without=(Seed, StrataColumns, Weights),
    notes={
        "suppressed": "Rows without a class id are suppressed: 'drop' is refused if a class is * "
        "in every quasi-identifier for another reason.",
        "hierarchy": BY_NODES,
    },
)
def generalize(table: QuasiTable, call: Call[GivenClasses]) -> Partition:
    """Return the classes of the table. Raises AnonError if one is illegal."""
    assert call.classes is not None
    small = int((~call.constraint.legal(call.classes, int(call.classes.max()) + 1)).sum())
    if small:
        raise AnonError(
            call.function,
            f"every class must {call.constraint.requirement}",
            f"{small} that {'does' if small == 1 else 'do'} not",
            "merge them, or set their class to NULL to suppress their rows",
        )
    return Partition(call.classes)
