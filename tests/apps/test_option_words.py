"""Errors of ``anon-sql release`` speak of its options."""

import pytest

from tests.command import refused

PEOPLE = "age,sex,illness\n" + "".join(
    f"{20 + i % 40},{'fm'[i % 2]},{('flu', 'cold')[i % 2]}\n" for i in range(80)
)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--quasi", "age"],
            "anonymize: every column needs a role, got no role for sex, illness; name it in "
            "--identifier, --quasi, --sensitive or --keep, or pass --keep '*' to release all of "
            "them as they are; anon-sql roles suggests roles",
        ),
        (
            ["--quasi", "agee"],
            "anonymize: --quasi must name columns of the table, got 'agee'; "
            "did you mean age? (age, sex, illness)",
        ),
        (
            ["--quasi", "age", "--keep", "*", "--identifier", "ag"],
            "anonymize: --identifier must name columns of the table, got 'ag'; "
            "did you mean age? (age, sex, illness)",
        ),
        (
            ["--quasi", "age", "--keep", "age,sex,illness"],
            "anonymize: a column has one role, got age as quasi and as keep; leave it out of --keep",
        ),
        (
            ["--quasi", "age", "--keep", "*", "--k", "900"],
            "anonymize: --k must be at most the number of rows, 80, got --k 900",
        ),
        (
            ["--quasi", "age", "--keep", "*", "--l", "2"],
            "anonymize: --l and --t need a sensitive column; pass --sensitive illness",
        ),
        (
            ["--quasi", "age", "--keep", "*", "--sensitive", "illness", "--l", "3"],
            "anonymize: --l must be at most what the whole table has in illness, 2 (distinct), "
            "got --l 3",
        ),
        (
            ["--quasi", "age", "--keep", "*", "--entity", "person"],
            "anonymize: --entity must name a column of the table, got 'person'; "
            "choose from age, sex, illness",
        ),
    ],
)
def test_the_words_of_release(tmp_path, options, said):
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    assert refused("release", path, tmp_path / "out.csv", *options) == said


def test_another_table_given_as_hierarchy(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    options = ["--quasi", "age", "--keep", "*", "--hierarchy", path]
    assert refused("release", path, tmp_path / "out.csv", *options).startswith(
        "release: --hierarchy must have the columns attribute, value, level and label, got nothing "
        "in attribute, value, label"
    )
