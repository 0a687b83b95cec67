"""Mondrian's classes by themselves, for those who go on with them in SQL."""

from anon_sql.methods import method
from anon_sql.methods.mondrian import mondrian
from anon_sql.options import Choice

method(
    "mondrian_partition",
    adds=("class_id",),
    partitioning=Choice(("strict", "relaxed")),
    columns=Choice(("any", "widest")),
)(mondrian)
