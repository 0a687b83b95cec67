"""The classes of a release as who reads it sees them: rows with equal labels are one class."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.pipeline.release import Release
from anon_sql.queries.distinct import distinct


def shown_classes(made: Release) -> tuple[dict[str, pa.Array], npt.NDArray[np.int64]]:
    """Return the labels of each class by quasi-identifier, and the class of each released row,
    int64[r]; classes with equal labels are one."""
    classes = np.unique(made.class_of)
    coded = {
        name: distinct(labels.shown.take(pa.array(labels.label_of[classes].astype(np.int64))))
        for name, labels in made.labels.items()
    }
    codes = np.column_stack([codes for _, codes in coded.values()])
    known, of_class = np.unique(codes, axis=0, return_inverse=True)
    labels = {
        name: shown.take(pa.array(known[:, at]))
        for at, (name, (shown, _)) in enumerate(coded.items())
    }
    return labels, of_class.reshape(-1)[np.searchsorted(classes, made.class_of)]
