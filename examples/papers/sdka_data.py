"""The tables and methods of SDkA's paper, and its printed figures."""

from typing import NamedTuple

from released import Method

SDKA, PLAIN, OURS, CTGAN = "SDkA", "k-anonymity", "anonymize, l = 2", "SDkA, CTGAN"
METHODS = [
    Method(SDKA, "sdka", drawn=True, generator="bootstrap"),
    Method(PLAIN, "sdka", drawn=True, generator="bootstrap", target_ratio=1e9, l=1),
    Method(OURS, "anonymize", l=2),
]
NAMES = [method.name for method in METHODS]


class Printed(NamedTuple):
    """Per cent below k-anonymity in each attack, deviations of SDkA and k-anonymity, accuracy."""

    attacks: tuple[float, ...]
    table_1: tuple[float, float]
    accuracy: float  # per cent above ImSKA
    deviation: tuple[float, float]  # of the accuracy


class Data(NamedTuple):
    """A table, the number of its seeds, its k (k-means is quadratic), and printed figures."""

    name: str
    columns: list[str]
    sensitive: str
    seeds: int
    ks: list[int]
    printed: Printed | None = None
    rows: int | None = None  # the first so many
    learned: tuple[int, ...] = ()  # the k at which CTGAN is tried beside `bootstrap`


DIABETES = ["race", "gender", "age", "admission_type_id", "time_in_hospital", "num_medications"]
DATA = [
    Data(
        "Adult",
        [
            *("age", "workclass", "education_num", "marital_status"),
            *("occupation", "race", "sex", "native_country"),
        ],
        "income",
        2,
        [*range(10, 101, 10)],
        Printed((8.8, 11.98, 17.70, 21.86), (164.17, 327.83), 9.67, (1.21, 3.41)),
        learned=(50,),
    ),
    Data(
        "Diabetes",
        DIABETES,
        "readmitted",
        1,
        [60, 80, 100],
        Printed((9.21, 38.68, 7.05, 11.82), (1377.77, 1990.17), 11.80, (2.17, 2.47)),
    ),
]
LEARNED = [  # with CTGAN, which takes long: few rows, and the columns of the authors' program
    Data(
        "Adult, part",
        ["age", "workclass", "education", "sex"],
        "income",
        1,
        [20, 50, 100],
        rows=5_000,
        learned=(20, 50, 100),
    ),
    Data("Diabetes, part", DIABETES, "readmitted", 1, [50], rows=10_000, learned=(50,)),
]


def file_of(data: Data) -> str:
    return data.name.split(",")[0].lower()
