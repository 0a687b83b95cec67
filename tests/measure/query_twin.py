"""query_error once more, row by row: every completion of a label is listed and tried.

Columns hold small integers or letters, so a label's possible values can be written down. A
condition is a nested tuple; its truth for one row is SQL's, with None for unknown.
"""


def holds(node, row):
    """True, False or None: a condition on a row (a dict), in three-valued logic."""
    kind = node[0]
    if kind == "not":
        inner = holds(node[1], row)
        return None if inner is None else not inner
    if kind in ("and", "or"):
        sides = [holds(part, row) for part in node[1:]]
        if kind == "and":
            return False if False in sides else None if None in sides else True
        return True if True in sides else None if None in sides else False
    value = row[node[1]]
    if kind == "null":
        return value is None
    return None if value is None else compare(kind, value, *node[2:])


def compare(kind, value, *constants):
    """A comparison without NULL."""
    if kind == "in":
        return value in constants[0]
    if kind == "between":
        return constants[0] <= value <= constants[1]
    if kind == "like":
        return value.startswith(constants[0])
    return {
        "=": value == constants[0],
        "<>": value != constants[0],
        "<": value < constants[0],
        "<=": value <= constants[0],
        ">": value > constants[0],
        ">=": value >= constants[0],
    }[kind]


def sql(node):
    kind = node[0]
    shown = {
        "not": lambda: f"NOT ({sql(node[1])})",
        "and": lambda: "(" + " AND ".join(map(sql, node[1:])) + ")",
        "or": lambda: "(" + " OR ".join(map(sql, node[1:])) + ")",
        "null": lambda: f"{node[1]} IS NULL",
        "in": lambda: f"{node[1]} IN ({', '.join(map(repr, node[2]))})",
        "between": lambda: f"{node[1]} BETWEEN {node[2]!r} AND {node[3]!r}",
        "like": lambda: f"{node[1]} LIKE '{node[2]}%'",
    }
    return shown[kind]() if kind in shown else f"{node[1]} {kind} {node[2]!r}"


def owners(node, quasi):
    """The quasi-identifiers of a condition, and '' for kept columns."""
    if node[0] in ("and", "or", "not"):
        return set().union(*(owners(part, quasi) for part in node[1:]))
    return {node[1] if node[1] in quasi else ""}


def positive(node, negated=False):
    """NOT moved down to comparisons, and AND in AND, OR in OR made one."""
    if node[0] == "not":
        return positive(node[1], not negated)
    if node[0] in ("and", "or"):
        kind = node[0] if not negated else {"and": "or", "or": "and"}[node[0]]
        parts = []
        for part in node[1:]:
            made = positive(part, negated)
            parts += made[1:] if made[0] == kind else [made]
        return (kind, *parts)
    return ("not", node) if negated else node


def match(node, row, quasi):
    """(share, certainly, possibly) of a row whose quasi-identifiers are lists of completions.

    Parts of one column are tried together; different ones are taken as independent.
    """
    if len(owners(node, quasi)) == 1:
        name = next(iter(owners(node, quasi)))
        if name == "":
            if row[""] is None:
                return None, False, True
            truth = holds(node, row[""]) is True
            return float(truth), truth, truth
        tried = [holds(node, {name: value}) is True for value in row[name]]
        return sum(tried) / len(tried), all(tried), any(tried)
    parts, single = [], {}
    for part in node[1:]:
        owned = owners(part, quasi)
        if len(owned) == 1:
            single.setdefault(next(iter(owned)), []).append(part)
        else:
            parts.append(match(part, row, quasi))
    parts += [match((node[0], *one), row, quasi) for one in single.values()]
    every = node[0] == "and"
    share = 1.0
    for part, _, _ in parts:
        share = None if part is None or share is None else share * (part if every else 1 - part)
    if share is not None and not every:
        share = 1 - share
    must, may = ([part[at] for part in parts] for at in (1, 2))
    return (share, all(must), all(may)) if every else (share, any(must), any(may))


def completions(label, values, below=None):
    """What a label may stand for; values: the raw column; below: by label the leaves of a
    hierarchy."""
    if below and label is not None:
        every = below["*"] + ([None] if None in values else [])
        return every if label == "*" else below[label]
    present = [value for value in values if value is not None]
    number = bool(present) and isinstance(present[0], int)
    if label is None or (label == "*" and not present):
        return [None]
    if label == "*":
        every = range(min(present), max(present) + 1) if number else sorted(set(present))
        return [*every, *([None] if None in values else [])]
    if label.startswith("["):
        low, high = label[1:-1].split(", ")
        return list(range(int(low), int(high) + 1))
    members = label.strip("{}").split(", ")
    return [int(label)] if number else members


def count(node, raw, released, quasi, trees=None):
    """(estimate, lower, upper) of count(*); rows are dicts, labels in the released ones; trees:
    by column the leaves below each label."""
    trees = trees or {}
    estimate = lower = upper = 0.0
    columns = {name: [row[name] for row in raw] for name in quasi}
    dropped = len(raw) - len(released)
    star = {name: completions("*", columns[name], trees.get(name)) for name in quasi}
    for row in released:
        said = {name: completions(row[name], columns[name], trees.get(name)) for name in quasi}
        share, must, may = match(node, {**said, "": row}, quasi)
        if dropped:
            estimate += dropped / len(released) * match(node, {**star, "": row}, quasi)[0]
        estimate, lower, upper = estimate + share, lower + must, upper + may
    if dropped:
        _, must, may = match(node, {**star, "": None}, quasi)
        lower, upper = lower + dropped * must, upper + dropped * may
    return estimate, lower, upper
