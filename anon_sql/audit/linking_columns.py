"""Count the kept columns of a release that hold pseudonyms."""

from anon_sql.audit.compared import Compared
from anon_sql.audit.properties import Property, none_of, untold


def linking_columns(given: Compared) -> Property:
    """Return the columns whose values are all 64 hexadecimal digits, as of ``anon_pseudonym``.

    The rows of one person have one pseudonym, in every release with the same key: whoever has two
    of them joins what both say. That is wanted in some releases and a leak in others, which the
    tables do not tell, so it is no failure but undecided.
    """
    asked = given.asked
    names = [*asked.shared, *asked.added]
    hashed = [name for name in names if given.released.look(name).hashed]
    told = none_of("pseudonyms", hashed)
    return untold(told) if hashed else told
