"""Texts that write numbers, dates or times in another notation are recognized, and codes are not."""

import duckdb
import numpy as np
import pytest

from anon_sql.core.notation import FORMATS, Notation, recognize

RECOGNIZED = [
    (["1,5", "2,25", "3"], {"decimal": ","}, [1.5, 2.25, 3]),
    (["1.234,5", "2", "10,5"], {"decimal": ",", "thousands": "."}, [1234.5, 2, 10.5]),
    (["1,234.5", "12", "3.5"], {"decimal": ".", "thousands": ","}, [1234.5, 12, 3.5]),
    (["1 234", "5\u00a0678", "12"], {"decimal": ".", "thousands": " "}, [1234, 5678, 12]),
    (["1'234.5", "5", "12"], {"decimal": ".", "thousands": "'"}, [1234.5, 5, 12]),
    (["72 kg", "80 kg", "91 kg"], {"decimal": "."}, [72, 80, 91]),
    (["72,5kg", "80 kg", "-3 kg"], {"decimal": ","}, [72.5, 80, -3]),
    (["5%", "7,5 %", "12%"], {"decimal": ","}, [5, 7.5, 12]),
    (["€ 1.200,50", "€ 3,10", "€ 4"], {"decimal": ",", "thousands": "."}, [1200.5, 3.1, 4]),
    (["1.1.1970", "31.12.1970", "02.01.1970"], {"date_format": "%d.%m.%Y"}, [0, 364, 1]),
    (["2/1/1970", "1/13/1970", "01/02/1970"], {"date_format": "%m/%d/%Y"}, [31, 12, 1]),
    (["2/1/1970", "13/1/1970", "01/02/1970"], {"date_format": "%d/%m/%Y"}, [1, 12, 31]),
    (["19700102", "19700103", "19691231"], {"date_format": "%Y%m%d"}, [1, 2, -1]),
    (["02-JAN-1970", "03-jan-1970", "31-Dec-1970"], {"date_format": "%d-%b-%Y"}, [1, 2, 364]),
    (["1970-01-02", "1970-01-03", "1970-01-01"], {"date_format": "%Y-%m-%d"}, [1, 2, 0]),
    (
        ["02.01.1970 12:00", "03.01.1970 00:00", "31.01.1970 06:00"],
        {"timestamp_format": "%d.%m.%Y %H:%M"},
        [1.5, 2, 30.25],
    ),
    (
        ["1/2/1970 6:00 PM", "1/13/1970 12:00 AM", "1/3/1970 6:00 AM"],
        {"timestamp_format": "%m/%d/%Y %I:%M %p"},
        [1.75, 12, 2.25],
    ),
]


@pytest.mark.parametrize(("texts", "settings", "values"), RECOGNIZED)
def test_a_notation_is_recognized_and_gives_the_values_that_its_texts_mean(texts, settings, values):
    found = recognize([*texts, "n/a", "", "unbekannt"])
    assert (found.fit, found.count, found.whole) == (3, 3, True)
    assert found.notation.settings() == settings
    scale = 86_400 if found.notation.format else 1
    assert (found.notation.numbers(texts) / scale).tolist() == pytest.approx(values)


@pytest.mark.parametrize(
    ("texts", "settings", "rival"),
    [
        (["01/02/2014", "3/4/2014", "5/6/2014"], "%d/%m/%Y", "%m/%d/%Y"),
        (["01-02-2014 10:30", "3-4-2014 11:00", "5-6-2014 9:00"], "%d-%m-%Y %H:%M", None),
        (["1,234", "5,678", "9,123"], ",", "."),
        (["01.02.14", "03.04.14", "05.06.99"], "%d.%m.%y", None),
    ],
)
def test_a_notation_that_could_mean_two_things_is_not_certain(texts, settings, rival):
    found = recognize(texts)
    assert not found.certain
    assert not found.whole
    assert settings in found.notation.settings().values()
    if rival:
        assert rival in found.rival.settings().values()
        assert ", or " in found.says()


@pytest.mark.parametrize(
    "texts",
    [
        ["10115", "10117", "20095"],
        ["01067", "04109", "20095"],
        ["250.13", "428", "V57", "250.1"],
        ["10.0.0.1", "10.0.0.2", "10.0.0.3"],
        ["40-49", "30-39", "50-59"],
        ["A12", "A13", "A14"],
        ["1,2", "3,4", "1,2,3"],
        ["12 a", "13 b", "14 c"],
        ["7B", "8B", "9B"],
        ["Bern", "Wien", "Paris"],
        ["1,5", "2,5", "many", "few"],
        ["n/a", "-", "?"],
        [],
    ],
)
def test_codes_and_words_are_not_taken_for_numbers_or_dates(texts):
    assert recognize(texts) is None


def test_one_text_in_ten_may_be_written_otherwise():
    texts = [f"{day:02}.01.2014" for day in range(1, 19)]
    found = recognize([*texts, "in spring", "later"])
    assert (found.fit, found.count, found.certain, found.whole) == (18, 20, True, False)
    assert recognize([*texts, "in spring", "later", "never"]) is None


@pytest.mark.parametrize("format_", FORMATS)
def test_what_python_matches_is_what_duckdb_reads(format_):
    notation = Notation(format_)
    (texts,) = zip(
        *duckdb.execute(
            "SELECT strftime(TIMESTAMP '1999-12-31 23:59:58.25' + to_days(30 * i::INTEGER), $f) "
            "FROM range(40) AS t(i)",
            {"f": format_},
        ).fetchall(),
        strict=True,
    )
    assert all(map(notation.matches, texts))
    plain = duckdb.execute(
        f"SELECT {notation.sql('x')} FROM (SELECT unnest($t) AS x)", {"t": list(texts)}
    ).fetchall()
    assert None not in [each for (each,) in plain]
    assert not np.isnan(notation.numbers(texts)).any()


@pytest.mark.parametrize("text", ["31.02.2014", "1.13.2014", "2014-01-02", "1.1.2014 ", "x"])
def test_a_text_that_is_no_such_date_has_no_plain_text(text):
    sql = Notation("%d.%m.%Y").sql("$x")
    assert duckdb.execute(f"SELECT {sql}", {"x": text}).fetchall() == [(None,)]
