"""The intersection attack once more, as a plain double loop over persons and releases.

Persons are lists of rows, rows are dicts, and releases are lists of (labels, sensitive values), as
in ``twin``; a release may lack quasi-identifiers.
"""

from collections import Counter

from tests.attack.twin import STAR, covers


def candidates(rows, released, sensitive):
    """How many released rows that can be the person's have which value."""
    near, stars = Counter(), Counter()
    any_near = False
    for labels, own in released:
        if all(label == STAR for label in labels.values()):
            stars[own[sensitive]] += 1
        elif any(all(covers(label, row[q]) for q, label in labels.items()) for row in rows):
            near[own[sensitive]] += 1
            any_near = True
    found = near if any_near else stars
    del found[None]
    return found


def composition(people, releases, sensitive, least=2, share=0.5):
    """The counts of all releases together, by the names of the columns."""
    held, left, kept_apart = [], [], []
    for rows in people:
        found = [one for one in (candidates(rows, r, sensitive) for r in releases) if one]
        held.append(len(found))
        if found:
            values = set.intersection(*(set(one) for one in found))
            left.append({value: min(one[value] for one in found) for value in values})
            kept_apart.append(all(len(one) >= least for one in found))
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
        "above_share": sum(max(one.values()) > share * sum(one.values()) for one in known),
        "least_values": min(sizes, default=None),
        "mean_values": sum(sizes) / len(sizes) if sizes else None,
        "least_rows": min((sum(one.values()) for one in known), default=None),
    }


def composed(con, releases, more="", raw="raw"):
    """Ask composition, and return its rows by the names of the columns."""
    result = con.execute(f"FROM composition('{raw}', {releases}{more and ', '}{more})")
    names = [column[0] for column in result.description]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
