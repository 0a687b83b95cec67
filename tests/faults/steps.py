"""Faults of the steps of a release that every host makes: rules, classes, labels and order."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.kernels import hashing
from anon_sql.pipeline import compute, partition, request
from anon_sql.privacy.beta_likeness import BetaLikeness
from anon_sql.privacy.delta_disclosure import DeltaDisclosure
from anon_sql.privacy.l_diversity import LDiversity
from anon_sql.privacy.max_share import MaxShare
from anon_sql.privacy.t_closeness import TCloseness
from tests.faults.fault import Fault, after, before

RULES = {
    LDiversity: {"l": 3},
    TCloseness: {"t": 0.15},
    BetaLikeness: {"beta": 0.5},
    DeltaDisclosure: {"delta": 0.5},
    MaxShare: {"max_share": 0.4},
}
UNFIT = "every class of labels must satisfy"
FALSE = "every value must lie in its label"
CHECKED = "the rows that were checked must be released once each, beside their labels"
ORDER = "released rows must be in the order of hashes"


def numbered(classes: Callable[[int], Any]) -> Callable[[Any], None]:
    """Return what plants a partition by the places of rows."""
    return after(
        compute,
        "legal_partition",
        lambda found, *_: replace(found, classes=classes(len(found.classes)).astype(np.int32)),
    )


def across_strata(patch: Any) -> None:
    real = compute.legal_partition
    patch.setattr(
        compute,
        "legal_partition",
        lambda table, call, method: real(table, replace(call, strata=None), method),
    )


def without(model: type) -> Callable[..., Any]:
    """Return a change of a request: it asks for no model of a type."""

    def change(source: Any, request: Any, *rest: Any) -> Any:
        kept = tuple(each for each in request.models if not isinstance(each, model))
        return (
            source,
            replace(request, models=kept, protected=request.protected if kept else {}),
            *rest,
        )

    return change


def rows_for_persons(source: Any, request: Any, *rest: Any) -> Any:
    return source, replace(request, entity=None), *rest


def null_for_a_value(source: Any, request: Any, *rest: Any) -> Any:
    """Give NULL a sort key as values have it."""
    keys = {
        name: pc.if_else(pc.equal(pc.binary_length(own), 0), b"\x01", own)
        for name, plain in source.keys.items()
        for own in [plain.dictionary_decode() if pa.types.is_dictionary(plain.type) else plain]
    }
    return replace(source, keys=keys), request, *rest


def of_another_table(found: Any, *_: Any) -> Any:
    """Compare classes with a table that has more rows of one value, and fewer of another."""
    rules = found.rules
    counts = rules.table_counts.copy()
    counts[0, :2] += [10, -10]
    below = np.cumsum(counts, axis=1, dtype=np.float64)
    return replace(
        found,
        rules=rules._replace(
            table_counts=counts,
            total=counts.sum(axis=1),
            below=below,
            area=np.cumsum(below, axis=1) - below,
        ),
    )


def relabelled(change: Callable[..., Any], column: int = 0) -> Callable[[Any], None]:
    """Return what plants labels of a column, changed after they were made."""

    def changed(made: Any, *_: Any) -> Any:
        return [change(own) if at == column else own for at, own in enumerate(made)]

    return after(compute, "make_labels", changed)


def narrower(own: Any) -> Any:
    """Move the upper end of every range down by one."""
    printed = [
        text
        if text[0] != "["
        else "[{}, {}]".format(text[1:].split(",")[0], int(text[:-1].split(", ")[1]) - 1)
        for text in own.printed.to_pylist()
    ]
    return replace(own, printed=pa.array(printed, pa.string()))


def one_word_less(own: Any) -> Any:
    """Print the first word of every set alone."""
    texts = own.printed.to_pylist()
    printed = [text and text.strip("{").split(", ")[0] for text in texts]
    assert printed != texts
    return replace(own, printed=pa.array(printed, pa.string()))


def exchanged(own: Any) -> Any:
    """Exchange the labels of the first class and of the next one that has another."""
    label_of = own.label_of.copy()
    for other in np.flatnonzero(label_of != label_of[0])[:1]:
        label_of[[0, other]] = label_of[[other, 0]]
    return replace(own, label_of=label_of)


def rolled(own: Any) -> Any:
    return replace(own, label_of=np.roll(own.label_of, 1))


def printed_for(label: str | None, other: str | None) -> Callable[[Any], Any]:
    """Return a change of labels: one is printed instead of another."""

    def change(own: Any) -> Any:
        texts = own.printed.to_pylist()
        return replace(
            own, printed=pa.array([other if x == label else x for x in texts], pa.string())
        )

    return change


def turned(own: Any) -> Any:
    ends = own.printed
    return replace(
        own,
        printed=pa.StructArray.from_arrays(
            [ends.field("max"), ends.field("min")], names=["min", "max"], mask=pc.is_null(ends)
        ),
    )


def columns_exchanged(made: Any, *_: Any) -> Any:
    return [made[2], made[1], made[0]]


def another_branch(found: tuple[Any, Any], table: Any, *_: Any) -> tuple[Any, Any]:
    """Take, for the labels of the first column, the leaf of one row for all rows."""
    classes, nodes = found
    assert nodes is not None
    nodes = nodes.copy()
    nodes[:, 0] = table.columns[0].codes[0]
    return classes, nodes


def one_level_up(own: Any) -> Any:
    """Print the parent of one label of cities."""
    texts = own.printed.to_pylist()
    texts[texts.index("Bonn")] = "north"
    return replace(own, printed=pa.array(texts, pa.string()))


def left_in(roles: Any, *_: Any) -> Any:
    """Keep an identifier."""
    return replace(roles, identifier=("person",), keep=("id", *roles.keep))


def suppressed_in_part(made: Any, *_: Any) -> Any:
    """Give the class of suppressed rows, the last one, the label of another in one column."""
    label_of = made[0].label_of.copy()
    label_of[-1] = label_of[0]
    return [replace(made[0], label_of=label_of), *made[1:]]


def arranged(change: Callable[..., Any]) -> Callable[[Any], None]:
    """Return what plants the rows of a release, changed after they were put in order."""
    return after(compute.Labelled, "release", change)


def in_source_order(found: Any, *_: Any) -> Any:
    order = np.argsort(found.position)
    return replace(found, position=found.position[order], class_of=found.class_of[order])


def taking(rows: Callable[[int], Any]) -> Callable[..., Any]:
    """Return a change of a release: some of its rows, by their places."""

    def change(found: Any, *_: Any) -> Any:
        at = rows(len(found.position))
        return replace(found, position=found.position[at], class_of=found.class_of[at])

    return change


def shifted(found: Any, *_: Any) -> Any:
    return replace(found, position=np.roll(found.position, 1))


def moved(found: Any, *_: Any) -> Any:
    """Put one row beside the labels of another class."""
    class_of = found.class_of.copy()
    class_of[0] = class_of[-1]
    return replace(found, class_of=class_of)


def named_otherwise(found: Any, *_: Any) -> Any:
    names, labels = list(found.labels), list(found.labels.values())
    return replace(found, labels=dict(zip(names, [labels[2], labels[1], labels[0]], strict=True)))


def none_dropped(found: tuple[Any, Any], *_: Any) -> tuple[Any, Any]:
    return found[0], np.zeros_like(found[1])


def one_dropped(found: tuple[Any, Any], *_: Any) -> tuple[Any, Any]:
    dropped = found[1].copy()
    dropped[np.flatnonzero(~dropped)[0]] = True
    return found[0], dropped


def first_suppressed(rows: int) -> Callable[[Any], None]:
    """Return what plants a partition that suppresses so many rows, in classes of 10 or more."""
    return numbered(
        lambda n: np.minimum((np.arange(n) - rows + 10) // 10, (n - rows) // 10) - 1,
    )


def all_in_one(own: Any) -> Any:
    """Give the first class a label of its own that covers every value."""
    printed = pa.array([*own.printed.to_pylist(), "[0, 999]"], pa.string())
    label_of = own.label_of.copy()
    label_of[0] = len(printed) - 1
    return replace(own, printed=printed, label_of=label_of)


def one_row_wider(found: Any, *_: Any) -> Any:
    """Print one row of the first class of a release with a wider label than the others."""
    name, own = next(iter(found.labels.items()))
    labels = {
        each: replace(made, label_of=np.append(made.label_of, made.label_of[found.class_of[0]]))
        for each, made in found.labels.items()
    }
    labels[name] = all_in_one(replace(own, label_of=np.roll(labels[name].label_of, 1)))
    labels[name] = replace(labels[name], label_of=np.roll(labels[name].label_of, -1))
    class_of = found.class_of.copy()
    class_of[0] = len(own.label_of)
    return replace(found, labels=labels, class_of=class_of)


def labels_exchanged(found: Any, *_: Any) -> Any:
    """Exchange the labels of two classes in one column."""
    name, own = next(iter(found.labels.items()))
    return replace(found, labels={**found.labels, name: exchanged(own)})


DROP = {"suppressed": "drop"}
STEPS = {
    "a class of k - 1": Fault(
        numbered(lambda n: np.arange(n) // 4), "every class of labels must have at least 5 rows"
    ),
    "strata crossed": Fault(
        across_strata, "no class of labels may cross strata", call={"strata": ["city"]}
    ),
    "rows counted for persons": Fault(
        before(partition, "constraint_of", rows_for_persons),
        UNFIT,
        call={"entity": "person", "identifiers": ["id"]},
    ),
    "an l that counts NULL": Fault(
        before(partition, "constraint_of", null_for_a_value), UNFIT, call={"l": 3}
    ),
    "t measured against another table": Fault(
        after(partition, "constraint_of", of_another_table), UNFIT, call={"t": 0.1}
    ),
    **{
        f"{', '.join(asked)} ignored": Fault(
            before(partition, "constraint_of", without(model)), UNFIT, call=asked
        )
        for model, asked in RULES.items()
    },
    "too many rows suppressed": Fault(
        first_suppressed(9), "may leave out no row, got 9 that are", call=DROP
    ),
    "an identifier left in": Fault(
        after(request, "assign", left_in), "comments count only where the relation is the committed"
    ),
    "a node of another branch": Fault(
        after(compute, "classes_and_nodes", another_branch),
        FALSE,
        method="full_domain",
        call={"hierarchy": "tree"},
    ),
    "bins that are not those of the earlier release": Fault(
        relabelled(one_level_up, 1),
        "every label must be one of",
        method="full_domain",
        call={"like": "r0", "hierarchy": "cities"},
    ),
    "a label one value too narrow": Fault(relabelled(narrower), FALSE),
    "a set without one of its values": Fault(relabelled(one_word_less, 1), FALSE, call={"k": 30}),
    "two labels exchanged": Fault(relabelled(exchanged), FALSE),
    "labels of another column": Fault(after(compute, "make_labels", columns_exchanged), FALSE),
    "NULL printed as a value": Fault(
        relabelled(printed_for(None, "Bonn"), 1), FALSE, call={"strata": ["city"]}
    ),
    "a value printed as NULL": Fault(relabelled(printed_for("Bonn", None), 1), FALSE),
    "a star printed as all values": Fault(
        relabelled(printed_for("*", "{Accra, Bonn, Delhi}"), 1), FALSE
    ),
    "a star printed for some columns of a suppressed row": Fault(
        lambda patch: (
            first_suppressed(9)(patch),
            after(compute, "make_labels", suppressed_in_part)(patch),
        ),
        FALSE,
    ),
    "typed ranges with exchanged ends": Fault(relabelled(turned), FALSE, call={"format": "typed"}),
    "the mean of another class": Fault(relabelled(rolled), FALSE, call={"format": "mean"}),
    "the median of another class": Fault(relabelled(rolled, 2), FALSE, call={"format": "median"}),
    "the midpoint of another range": Fault(relabelled(rolled), FALSE, call={"format": "midpoint"}),
    "the order of the source kept within classes": Fault(
        lambda patch: patch.setattr(hashing, "arrange", lambda order, *_: order), ORDER
    ),
    "the order of the source kept": Fault(arranged(in_source_order), ORDER),
    "a row lost": Fault(arranged(taking(lambda n: np.arange(n - 1))), CHECKED),
    "a row twice": Fault(arranged(taking(lambda n: np.append(np.arange(n), n - 1))), CHECKED),
    "a row twice and another lost": Fault(
        arranged(taking(lambda n: np.maximum(np.arange(n), 1))), CHECKED
    ),
    "kept values shifted by a row": Fault(arranged(shifted), CHECKED),
    "a row in another class": Fault(arranged(moved), CHECKED),
    "labels named as another column": Fault(arranged(named_otherwise), CHECKED),
    "a suppressed row kept": Fault(
        lambda patch: (
            first_suppressed(9)(patch),
            after(compute, "equal_labels", none_dropped)(patch),
        ),
        CHECKED,
        method="anonymize",
        call={**DROP, "suppression_limit": 0.2, "effort": "fast"},
    ),
    "a class left out that is not suppressed": Fault(
        after(compute, "equal_labels", one_dropped), CHECKED, call=DROP
    ),
}


def no_model(k, sensitive, persons, models=()):
    return k, (), persons, ()


def rows_alone(k, sensitive, persons, models=()):
    return k, sensitive, None, models


def smaller_k(k, sensitive, persons, models=()):
    return k - 1, sensitive, persons, models


def null_known(k, sensitive, persons, models=()):
    """Count NULL as one more value."""
    return k, [replace(own, non_null=own.non_null + 1) for own in sensitive], persons, models


# What goes wrong in a rule goes wrong in the check of the release too: an audit finds it.
IN_RULES = {
    "k - 1 asked for": Fault(before(partition, "constraint", smaller_k), found={"k"}),
    "an l that counts NULL": Fault(
        before(partition, "constraint", null_known), found={"l"}, call={"l": 3}, audit={"l": 3}
    ),
    "t measured against another table": Fault(
        after(partition, "constraint", of_another_table),
        found={"t"},
        call={"t": 0.1},
        audit={"t": 0.1},
    ),
    **{
        f"{name} ignored": Fault(
            before(partition, "constraint", no_model), found={name}, call=asked, audit=asked
        )
        for asked in RULES.values()
        for name in asked
    },
    "a person split over rows": Fault(
        before(partition, "constraint", rows_alone),
        found={"k"},
        call={"entity": "person", "identifiers": ["id"]},
        audit={"entity": "person"},
    ),
}
