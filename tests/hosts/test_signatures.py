"""What Python says of the functions of Spark follows from the declared parameters."""

import inspect

from anon_sql import spark
from anon_sql.core.common_parameters import IN_SQL
from anon_sql.core.parameters import takes


def test_a_method_of_spark_has_its_parameters_and_their_sentences():
    known = {name: each for name, each in takes("rayden").items() if name not in IN_SQL}
    found = inspect.signature(spark.rayden).parameters
    assert list(found)[:3] == ["df", "k", "part_rows"]
    assert {*found} == {"df", "part_rows", *known}
    assert all(found[name].default == one.default for name, one in known.items())
    said = spark.rayden.__doc__.splitlines()
    assert (
        "alpha: a row is an outlier if its COF exceeds the mean of its class by more than alpha "
        "standard deviations." in said
    )
    assert "c: constant c of l_kind='recursive'." in said
    assert any(
        line.startswith("threshold: ") and "None means the limit that alpha sets" in line
        for line in said
    )


def test_only_the_parameters_of_releases_in_regions():
    assert "datafly" not in dir(spark)
    assert "anonymize" in dir(spark)
    assert "previous" not in inspect.signature(spark.anonymize).parameters
