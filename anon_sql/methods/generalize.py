"""Classes that come with the table: the last step of a release, for a partition of one's own."""

from anon_sql.errors import AnonError
from anon_sql.methods import Call, Partition, method
from anon_sql.table import QuasiTable


@method("generalize", given=True)
def generalize(table: QuasiTable, call: Call) -> Partition:
    """The given classes as they are. Raises AnonError for one that may not be released."""
    assert call.classes is not None
    small = int((~call.constraint.legal(call.classes, int(call.classes.max()) + 1)).sum())
    if small:
        raise AnonError(
            call.function,
            f"every class must {call.constraint.promise}",
            f"{small} that {'does' if small == 1 else 'do'} not",
            "merge them, or set their class to NULL to suppress their rows",
        )
    return Partition(call.classes)
