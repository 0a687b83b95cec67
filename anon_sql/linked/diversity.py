"""Make l hold: in every slot, and over all slots of a table together.

In a class of n people, the people have at least l values in each slot, and at most n - (l - 1) of
them have any one value there; the second part holds also over all slots of a table. NULL is not a
value. A class that breaks this is merged with the nearest one, and its slots are made anew.

No slot is left out because of its values. A class shows as many slots as its person with fewest
rows has, and this number is public. If a slot were missing, an attacker would know that all people
of the class share a value there, and from n - 1 people with the value the last one follows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_sql.errors import AnonError, Argument
from anon_sql.linked.options import LinkedCall
from anon_sql.linked.partition import LinkedPoints
from anon_sql.linked.rows import MISSING, Ints, LinkedRows, counts_of, free, holders
from anon_sql.linked.schema import Node, Schema
from anon_sql.linked.slots import SlotPlacement, place

Classes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Values:
    """The m values of a sensitive column, or of the numbers of rows of a sensitive link.

    name: of the column. owner: the table whose slots the values are in. slot, class_of, person:
    int32[m]. code: int32[m], MISSING for NULL.
    """

    name: str
    owner: str
    slot: Ints
    class_of: Ints
    person: Ints
    code: Ints

    def of_slots(self) -> "Values":
        """Return the values of rows that have a slot."""
        kept = np.flatnonzero(self.slot >= 0)
        parts = (self.slot, self.class_of, self.person, self.code)
        return Values(self.name, self.owner, *(part[kept] for part in parts))


def values_of(
    schema: Schema, tied: Mapping[str, LinkedRows], placed: Mapping[str, SlotPlacement]
) -> Iterator[Values]:
    """Yield the values that l applies to."""
    for node in schema.nodes.values():
        rows, places = tied[node.name], placed[node.name]
        for name in node.sensitive:
            label = f"{node.name}.{name}"
            code = rows.codes[name] - 1  # 0 is NULL there
            yield Values(label, places.owner, places.slot, places.class_of, rows.person, code)
        if node.role == "sensitive" and node.link is not None:
            above, parent = tied[node.link.parent], placed[node.link.parent]
            counts = counts_of(rows.parent, above.count)
            label = f"the number of {node.name}"
            yield Values(label, parent.owner, parent.slot, parent.class_of, above.person, counts)


def broken_groups(values: Values, group: Ints, sizes: Ints, l: int, *, distinct: bool) -> Ints:  # noqa: E741
    """Return the groups that break l, ascending.

    group: int64[m], of each value. sizes: int64[c], persons of each class. distinct: whether the
    persons must have at least l values.
    """
    if len(group) == 0:
        return np.zeros(0, np.int64)
    class_of_group = np.zeros(int(group.max()) + 1, np.int64)
    class_of_group[group] = values.class_of
    groups, holder_counts = holders(group, values.code, values.person)
    broken = groups[holder_counts > sizes[class_of_group[groups]] - (l - 1)]
    if distinct:
        many = np.bincount(groups, minlength=len(class_of_group))
        non_empty = np.bincount(group, minlength=len(class_of_group)) > 0
        broken = np.r_[broken, np.flatnonzero((many < l) & non_empty)]
    return np.unique(broken)


def require_values(
    function: str,
    schema: Schema,
    tied: Mapping[str, LinkedRows],
    l: int,  # noqa: E741
) -> None:
    """Raise AnonError for a column with fewer than l values in the whole table, or for none."""
    if l < 2:
        return
    zero = np.zeros
    one_class = {
        name: SlotPlacement(
            zero(rows.count, np.int32), zero(rows.count, np.bool_), rows.person, name
        )
        for name, rows in tied.items()
    }
    columns = list(values_of(schema, tied, one_class))
    if not columns:
        rule = Argument("l", l) + " needs a sensitive column or link"
        raise AnonError(function, rule)
    for values in columns:
        many = len(np.unique(values.code[values.code != MISSING]))
        if len(values.code) and many < l:
            raise AnonError(
                function,
                f"{values.name} must have at least {l} values in the whole table",
                f"{many}",
                "lower " + Argument("l", 1) + ", or give it another role",
            )


def merge_classes(
    schema: Schema,
    tied: Mapping[str, LinkedRows],
    points: LinkedPoints | None,
    classes: Classes,
    l: int,  # noqa: E741
    function: str,
) -> Classes:
    """Return classes in which l holds for what hangs on persons directly.

    A class that breaks it is merged with the class whose persons are nearest.
    """
    if l < 2:
        return classes
    direct = {schema.root} | {
        node.name for node in schema.nodes.values() if _hangs_on_persons(schema, node)
    }
    while True:
        wrong = _wrong_classes(schema, tied, classes, l, direct)
        if len(wrong) == 0:
            return classes
        if int(classes.max()) == 0:
            raise AnonError(
                function,
                f"all persons together must satisfy l = {l} in what hangs on them directly",
                "a table that does not",
                "lower " + Argument("l", l - 1),
            )
        classes = _merged(points, tied[schema.root], classes, wrong)


def _hangs_on_persons(schema: Schema, node: Node) -> bool:
    """Return whether no table from the root to this one has slots."""
    while node.link is not None:
        if schema.is_countable(node.name):
            return False
        node = schema.parent(node)
    return True


def _wrong_classes(
    schema: Schema,
    tied: Mapping[str, LinkedRows],
    classes: Classes,
    l: int,  # noqa: E741
    direct: set[str],
) -> Ints:
    placed = {
        name: SlotPlacement(
            classes[rows.person],
            np.zeros(rows.count, np.bool_),
            classes[rows.person],
            schema.root if name in direct else name,
        )
        for name, rows in tied.items()
    }
    sizes = np.bincount(classes)
    broken = [np.zeros(0, np.int64)]
    for values in values_of(schema, tied, placed):
        if values.owner == schema.root:
            broken.append(broken_groups(values, values.slot, sizes, l, distinct=True))
    return np.unique(np.concatenate(broken))


def _merged(
    points: LinkedPoints | None, rows: LinkedRows, classes: Classes, wrong: Ints
) -> Classes:
    """Return classes after each wrong one was joined with the nearest."""
    count = int(classes.max()) + 1
    array = (
        np.zeros((rows.count, 1)) if points is None else points.table(np.arange(rows.count)).points
    )
    sizes = np.bincount(classes, minlength=count)
    centres = np.column_stack(
        [np.bincount(classes, array[:, c], minlength=count) / sizes for c in range(array.shape[1])]
    )
    becomes = np.arange(count)
    for class_id in wrong:
        if becomes[class_id] != class_id:
            continue
        distance = np.abs(centres - centres[class_id]).sum(axis=1)
        distance[becomes == becomes[class_id]] = np.inf
        nearest = int(distance.argmin())
        becomes[becomes == class_id] = becomes[nearest]
    return np.unique(becomes[classes], return_inverse=True)[1].reshape(-1).astype(np.int32)


def place_diverse(
    call: LinkedCall,
    schema: Schema,
    tied: Mapping[str, LinkedRows],
    points: Mapping[str, LinkedPoints | None],
    classes: Classes,
) -> dict[str, SlotPlacement]:
    """Return the places of all rows, in classes that are merged until l holds in their slots.

    classes: int32[n], of the people. Raises AnonError if l does not hold in a single class.
    """
    l = call.options.l  # noqa: E741
    while True:
        placed = place(call, schema, tied, points, classes)
        free()
        broken = _classes_with_broken_slots(schema, tied, placed, classes, l)
        if len(broken) == 0:
            return placed
        if int(classes.max()) == 0:
            raise AnonError(
                call.function,
                f"all persons together must satisfy l = {l} in the rows that are below them",
                "tables that do not",
                "lower " + Argument("l", l - 1) + ", or give a sensitive column another role",
            )
        classes = _merged(points[schema.root], tied[schema.root], classes, broken)


def _classes_with_broken_slots(
    schema: Schema,
    tied: Mapping[str, LinkedRows],
    placed: Mapping[str, SlotPlacement],
    classes: Classes,
    l: int,  # noqa: E741
) -> Ints:
    """Return the classes that break l in a slot, or over all slots of a table."""
    broken = [np.zeros(0, np.int64)]
    if l < 2:
        return broken[0]
    sizes = np.bincount(classes)
    for values in map(Values.of_slots, values_of(schema, tied, placed)):
        slots = broken_groups(values, values.slot, sizes, l, distinct=True)
        broken.append(values.class_of[np.isin(values.slot, slots)])
        broken.append(broken_groups(values, values.class_of, sizes, l, distinct=False))
    return np.unique(np.concatenate(broken))
