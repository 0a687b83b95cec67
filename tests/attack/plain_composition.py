"""The intersection attack once more, as a plain double loop over persons and releases.

Persons are lists of rows, rows are dicts, and releases are lists of (labels, other values), as in
``twin``; a release may lack quasi-identifiers.
"""

from collections import Counter

from tests.attack.twin import STAR, covers


def candidates(rows, released, sensitive, whole):
    """How many released rows that can be the person's have which tuple of the columns ``whole``."""
    near, stars = Counter(), Counter()
    any_near = False
    for labels, own in released:
        if all(label == STAR for label in labels.values()):
            stars[tuple(own[c] for c in whole)] += own[sensitive] is not None
        elif any(all(covers(label, row[q]) for q, label in labels.items()) for row in rows):
            near[tuple(own[c] for c in whole)] += own[sensitive] is not None
            any_near = True
    return +(near if any_near else stars)


def composition(people, releases, sensitive, least=2, share=0.5, whole="sn"):
    """The counts of all releases together, by the names of the columns."""
    held, left, kept_apart = [], [], []
    at = whole.index(sensitive)
    for rows in people:
        found = [one for one in (candidates(rows, r, sensitive, whole) for r in releases) if one]
        held.append(len(found))
        if found:
            values = Counter()
            for one in set.intersection(*(set(one) for one in found)):
                values[one[at]] += min(rows[one] for rows in found)
            left.append(values)
            kept_apart.append(all(len({one[at] for one in each}) >= least for each in found))
    known = [one for one in left if one]
    sizes = [len(one) for one in known]
    return {
        "persons": len(left),
        "in_all": held.count(len(releases)),
        "contradicted": len(left) - len(known),
        "one_value": sizes.count(1),
        "below_l": sum(size < least for size in sizes),
        "only_together": sum(
            0 < len(one) < least and apart for one, apart in zip(left, kept_apart, strict=True)
        ),
        "share_of_minima": sum(max(one.values()) > share * sum(one.values()) for one in known),
        "least_values": min(sizes, default=None),
        "mean_values": sum(sizes) / len(sizes) if sizes else None,
        "least_rows": min((sum(one.values()) for one in known), default=None),
    }


def composed(con, releases, more="", raw="raw"):
    """Ask composition, and return its rows by the names of the columns."""
    result = con.execute(f"FROM composition('{raw}', {releases}{more and ', '}{more})")
    names = [column[0] for column in result.description]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
