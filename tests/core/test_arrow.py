"""Arguments in the types that settings of DuckDB make it send."""

import pyarrow as pa
import pytest

from anon_sql.core.arrow import without_views

pytestmark = pytest.mark.quick

LISTS = [[["x", "a text that is longer than twelve bytes"], None, []], None, [], [["z", None]]]
TEXTS = pa.list_view(pa.list_view(pa.string_view()))


def structs():
    fields = [pa.array(LISTS, TEXTS), pa.array([b"1", None, b"", b"aaa"], pa.binary_view())]
    return pa.StructArray.from_arrays(
        fields, names=["a", "b"], mask=pa.array([False, True, False, False])
    )


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pa.array(LISTS, TEXTS), pa.list_(pa.list_(pa.string()))),
        (structs(), pa.struct([("a", pa.list_(pa.list_(pa.string()))), ("b", pa.binary())])),
        (pa.array([1, None], pa.decimal32(4, 1)), pa.decimal128(4, 1)),
        (pa.array([1, None], pa.int32()), pa.int32()),
    ],
)
def test_views_are_copied(values, kind):
    """Whole, cut and in chunks: NULL stays NULL, and an empty list is none."""
    for given in (values, values[1:], values[:0], pa.chunked_array([values, values[1:]])):
        found = without_views(given)
        assert found.type == kind
        assert found.to_pylist() == given.to_pylist()
    assert without_views(pa.chunked_array([], values.type)).type == kind
