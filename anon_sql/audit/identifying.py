"""Count the rows of a release that are unique on its kept columns together."""

from anon_sql.audit.compared import Compared
from anon_sql.audit.properties import Property, at_most
from anon_sql.measures.uniqueness import codes_of, told, unique_together


def identifying_combinations(given: Compared) -> Property:
    """Return the share of rows that are unique on all columns without a label, sensitive ones
    excepted, and the columns that do most of it.

    Whoever knows these values of a person finds the row, whatever its class. Columns that the raw
    table lacks are counted too.
    """
    asked = given.asked
    kept = [name for name in (*asked.shared, *asked.added) if name not in asked.values]
    columns = {name: codes_of(given.marks(name)) for name in kept}
    rows, steps = unique_together(columns)
    share = rows / given.shown if given.shown else 0.0
    return at_most("identifying combinations", asked.unique_share, share, told(steps, given.shown))
