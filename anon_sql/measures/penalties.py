"""The normalized certainty penalty (NCP) of released labels, column by column.

Xu et al. 2006 (Utility-based anonymization using local recoding), section 3.1: the range of a
number / its range in the table; of a text the values of its label / those of the table. In a
hierarchy the leaves below a node / all leaves (Kara and Eyupoglu 2023, equation 5).
Beside it stands the loss of Byun et al. 2007, see ``information_loss``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import integers, plain, valid
from anon_sql.core.hierarchy.tree import Tree
from anon_sql.core.labels.check_one_value import ROUNDING
from anon_sql.core.labels.one_value import shows_values
from anon_sql.core.labels.read import Ranges, Said, read_columns, read_nodes, read_sets
from anon_sql.measures.domain import Domain
from anon_sql.measures.information_loss import node_height, set_height
from anon_sql.measures.points import points

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
OTHER = 2.0  # the loss of a label that covers nothing of what the raw column holds


@dataclass(frozen=True)
class Penalties:
    """Of one column, an entry a class.

    loss: 0 to 1, OTHER, or NaN for a malformed label. height: of ILoss, 0 to 1 where ``loss`` is.
    star: suppressed, which loses 1. quoted: whether some label could stand for text that looks like
    a label. one_value: whether classes show a mean or a median, which has no NCP; the losses are 0.
    """

    loss: Floats
    height: Floats
    star: Bools
    quoted: bool
    one_value: bool = False


def range_loss(low: Floats, high: Floats, least: float, most: float) -> Floats:
    """Return the NCP of ranges in a domain, all of them given as ``points``."""
    width = most - least
    return (high - low) / (width if width > 0 else 1.0)


def set_loss(counts: Ints, values: int, form: str = "share") -> Floats:
    """Return the NCP of sets of so many texts in a domain of so many, NULL among them.

    form: ``dop`` for (counts - 1) / (values - 1).
    """
    less = form == "dop"
    return np.where(counts > 1, (counts - less) / max(values - less, 1), 0.0)


def node_loss(tree: Tree, nodes: Ints) -> Floats:
    """Return the NCP of nodes of a hierarchy."""
    return tree.share[nodes]


def penalties(
    domains: Sequence[Domain], shown: Mapping[str, pa.Array], form: str
) -> dict[str, Penalties]:
    """Return the penalties of every column, by name; shown: what each class shows of it."""
    given = {name: _distinct(labels) for name, labels in shown.items()}
    ranged = [
        d for d in domains if d.number and d.tree is None and not shows_values(given[d.name][0])
    ]
    ends = read_columns([d.sql_type for d in ranged], [given[d.name][0] for d in ranged])
    read = dict(zip((d.name for d in ranged), ends, strict=True))
    found = {}
    for each in domains:
        labels, at = given[each.name]
        once = _penalties(each, labels, read.get(each.name), form)
        found[each.name] = replace(
            once, loss=once.loss[at], height=once.height[at], star=once.star[at]
        )
    return found


def _distinct(shown: pa.Array) -> tuple[pa.Array, Ints]:
    """Return labels without repeats and the place of each class's among them."""
    shown = plain(shown)
    if not _is_text(shown.type):
        return shown, np.arange(len(shown))
    coded = shown if pa.types.is_dictionary(shown.type) else shown.dictionary_encode()
    words = coded.dictionary
    labels = pa.concat_arrays([words, pa.nulls(1, words.type)])
    return labels, integers(coded.indices.fill_null(len(words)).cast(pa.int64()))


def _is_text(kind: pa.DataType) -> bool:
    texts = pa.types.is_string, pa.types.is_large_string, pa.types.is_dictionary
    return any(is_kind(kind) for is_kind in texts)


def _penalties(column: Domain, shown: pa.Array, read: Ranges | None, form: str) -> Penalties:
    said: Said
    if shows_values(shown):
        return _of_values(column, shown)
    if read is not None:
        said, loss = read, _of_ranges(column, read)
        height = loss
    elif column.tree is not None:
        nodes = read_nodes(column.tree, column.sql_type, shown)
        said, loss = nodes, node_loss(column.tree, nodes.node)
        height = node_height(column.tree, nodes.node)
    else:
        said, counts, loss = _of_sets(column, shown, form)
        height = set_height(counts)
    loss = np.where(said.malformed, np.nan, loss)
    loss = np.where(said.empty, 0.0 if column.nulls else OTHER, loss)
    height = np.where(said.star, 1.0, np.where(said.empty, 0.0, height))
    quoted = not _is_text(shown.type) or bool(
        said.star.any() or pc.any(pc.match_substring(shown, "'")).as_py()
    )
    return Penalties(np.where(said.star, 1.0, loss), height, said.star, quoted)


def _of_ranges(column: Domain, read: Ranges) -> Floats:
    """Return the penalties of what ranges cover of the domain."""
    low = np.maximum(points(column.sql_type, read.low), column.least)
    high = np.minimum(points(column.sql_type, read.high), column.most)
    loss = range_loss(low, high, column.least, column.most)
    return np.where(low <= high, loss, OTHER)


def _of_values(column: Domain, shown: pa.Array) -> Penalties:
    """Return the penalties of means or medians, which lie within the domain but for rounding."""
    star, found = ~valid(shown), points(column.sql_type, shown)
    slack = ROUNDING * max(abs(column.least), abs(column.most))
    inside = (column.least - slack <= found) & (found <= column.most + slack)
    loss = np.where(star, 1.0, np.where(inside, 0.0, OTHER))
    return Penalties(loss, np.where(star, 1.0, 0.0), star, quoted=True, one_value=True)


def _of_sets(column: Domain, shown: pa.Array, form: str) -> tuple[Said, Ints, Floats]:
    said, held = read_sets(shown), set(column.words)
    counts = np.array([len(held.intersection(words or ())) for words in said.words], np.int64)
    loss = set_loss(counts, column.values, form)
    return said, counts, np.where(counts > 0, loss, OTHER)
