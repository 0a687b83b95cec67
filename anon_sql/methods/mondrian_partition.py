"""Register Mondrian as a step, whose classes are used further in SQL."""

from anon_sql.core.options import Choice
from anon_sql.methods import method
from anon_sql.methods.mondrian import mondrian

method(
    "mondrian_partition",
    adds=("class_id",),
    partitioning=Choice(("strict", "relaxed")),
    columns=Choice(("any", "widest")),
)(mondrian)
