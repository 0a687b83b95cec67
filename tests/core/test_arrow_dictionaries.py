"""A dictionary that is released has the values that occur, and tells nothing by their order."""

import pyarrow as pa
import pytest

from anon_sql.core.arrow import occurring

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("index", [pa.int8(), pa.int32(), pa.uint16()])
def test_a_dictionary_keeps_the_values_that_occur_as_they_first_do(index):
    values = pa.DictionaryArray.from_arrays(
        pa.array([3, None, 1, 3], index), pa.array(["a", "b", "c", "d"])
    )
    found = occurring(values)
    assert found.to_pylist() == ["d", None, "b", "d"]
    assert found.dictionary.to_pylist() == ["d", "b"]
    assert found.type == values.type
    assert occurring(values.slice(1, 1)).dictionary.to_pylist() == []
    ordered = values.cast(pa.dictionary(index, pa.string(), ordered=True))
    assert occurring(ordered).dictionary.to_pylist() == ["b", "d"]
    assert occurring(ordered).to_pylist() == ["d", None, "b", "d"]


def test_other_values_are_as_they_were():
    values = pa.array([1, None])
    assert occurring(values) is values
