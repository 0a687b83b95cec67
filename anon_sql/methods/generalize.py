"""Classes that come with the table: the last step of a release, for a partition of one's own."""

from anon_sql.errors import AnonError
from anon_sql.methods import Call, Partition, method
from anon_sql.table import QuasiTable


@method("generalize", given=True)
def generalize(table: QuasiTable, call: Call) -> Partition:
    """The given classes as they are. Raises AnonError for one that may not be released."""
    from anon_sql.kernels.grouping import group

    assert call.classes is not None
    _, starts = group(call.classes[call.classes >= 0], int(call.classes.max()) + 1)
    small = int((~call.constraint.legal(starts[1:] - starts[:-1])).sum())
    if small:
        raise AnonError(
            call.function,
            f"every class must have at least {call.constraint.k} rows",
            f"{small} with fewer",
            "merge them, or set their class to NULL to suppress their rows",
        )
    return Partition(call.classes)
