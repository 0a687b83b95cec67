"""risk gives the figures that ARX's own tests expect, on the tables of these tests.

The constants are those of ``TestRiskMetrics`` in the source of ARX (github.com/arx-deidentifier/arx,
commits 8cdf3db and 06311b0), which compares averages exactly and uniqueness with four digits.
"""

import pytest

import anon_sql
from tests.conftest import COMPLETE

# The records of ARX's DataProvider, generalized as far as 2-anonymity needs: 2, 2 and 3 records
SEVEN = """
CREATE TABLE seven AS FROM (VALUES
    ('<50', '*', '816**'), ('<50', '*', '816**'), ('>=50', '*', '819**'), ('>=50', '*', '819**'),
    ('<50', '*', '819**'), ('>=50', '*', '819**'), ('<50', '*', '819**')
) AS records(age, gender, zipcode)
"""
ADULT = [
    *("sex", "age", "race", "marital_status", "education"),
    *("native_country", "workclass", "occupation", "income"),
]
AVERAGE, UNIQUE = 0.6465751607983555, 0.5142895033485844
UNIQUE_IN_POPULATION = {  # by sampling fraction: the model that ARX chose, and its figure
    0.1: ("pitman", 0.27684993883653597),
    0.2: ("zayatz", 0.3577099234829125),
    0.01: ("pitman", 0.1446083531167384),
    1.0: ("zayatz", 0.5142895033485844),
}


def row(con, table, quasi, **more):
    """Return the row of risk for one finished table."""
    named = "".join(f", {name} := {value}" for name, value in more.items())
    (found,) = (
        con.sql(f"FROM risk('{table}', quasi := {quasi}{named})").to_arrow_table().to_pylist()
    )
    return found


def four_digits(value):
    """Return a figure as ARX's test compares it."""
    return int(value * 10_000)


def test_seven_records(con):
    con.execute(SEVEN)
    found = row(con, "seven", ["age", "gender", "zipcode"])
    assert found["prosecutor"] == 0.5
    assert found["prosecutor_mean"] == 0.42857142857142855


def test_the_definitions_of_arx_by_hand(con):
    """RiskModelSampleSummary: shares above a threshold, 1 / smallest class, f / F over the rows."""
    con.execute(SEVEN)
    quasi = ["age", "gender", "zipcode"]
    assert row(con, "seven", quasi, threshold=0.4)["prosecutor_at_risk"] / 7 == 4 / 7
    con.execute("CREATE TABLE everybody AS FROM seven, range(3) SELECT age, gender, zipcode")
    con.execute("INSERT INTO everybody SELECT '<50', '*', '816**' FROM range(4)")
    found = row(con, "seven", quasi, population="'everybody'")
    assert found["journalist"] == 1 / 6  # 10, 6 and 9 of the population
    assert found["marketer"] == pytest.approx((2 / 10 + 2 / 6 + 3 / 9) / 7)


@pytest.fixture(scope="module")
def census(shared_data):
    """Return a connection with the 30,162 records of ARX's adult.csv."""
    con = anon_sql.connect()
    con.execute(f"CREATE TABLE adult AS FROM '{shared_data}/adult.parquet' WHERE {COMPLETE}")
    yield con
    con.close()


def test_adult_before_a_release(census):
    found = row(census, "adult", ADULT, threshold=0.5)
    assert (found["prosecutor"], found["prosecutor_mean"]) == (1.0, AVERAGE)
    assert found["prosecutor_at_risk"] / found["rows"] == UNIQUE  # the risk of a unique record is 1


@pytest.mark.parametrize("fraction", UNIQUE_IN_POPULATION)
def test_uniqueness_in_the_population(census, fraction):
    model, expected = UNIQUE_IN_POPULATION[fraction]
    found = row(census, "adult", ADULT, sampling_fraction=fraction)
    assert four_digits(found[model]) == four_digits(expected)
