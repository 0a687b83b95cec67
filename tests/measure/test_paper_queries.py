"""paper_queries: those of the papers, on Adult."""

from tests.sentence import fails


def test_the_queries_of_m_cof(con):
    queries = con.execute("SELECT unnest(paper_queries('m_cof'))").fetchall()
    assert len(queries) == 4
    assert queries[1] == (
        "SELECT count(*) FROM raw WHERE race = 'Black' AND native_country = 'United-States'",
    )
    assert fails(con, "SELECT paper_queries('x')") == (
        "paper_queries: paper must be one of 'm_cof'"
    )


def test_the_answers_on_adult(adult):
    """True answers counted by hand-written SQL; the literal ones by what a label's minimum is."""
    adult.execute("CREATE TABLE r AS FROM rayden('adult', k := 10)")
    found = adult.execute(
        "FROM query_error('adult', 'r', paper_queries('m_cof'), mode := 'literal')"
    ).fetchall()
    assert [row[2] for row in found] == [737, 2629, 2606, 298]
    for row in found:
        assert row[4:6] == (None, None)
    words = "workclass IN ('Private', 'Self-emp-not-inc', 'Self-emp-inc')"
    least = "TRY_CAST(anon_min(age) AS INTEGER)"
    expected = [
        f"{words} AND {least} = 35",
        "race = 'Black' AND native_country = 'United-States'",
        f"{words} AND {least} > 55 AND race = 'White'",
        f"{words} AND {least} > 70 AND race = 'White'",
    ]
    for row, condition in zip(found, expected, strict=True):
        answer = adult.execute(f"SELECT count(*) FROM r WHERE {condition}").fetchall()[0][0]
        assert row[3] == answer
