"""gower_ranges: the width of every numeric quasi-identifier."""


def test_numbers_dates_times_and_text(con):
    con.execute(
        """
        CREATE TABLE t AS FROM (VALUES
            (1, DATE '2000-01-01', TIMESTAMP '2000-01-01 00:00:00', 'a', NULL::DOUBLE),
            (5, DATE '2000-01-11', TIMESTAMP '2000-01-01 00:00:01', 'b', NULL),
            (NULL, NULL, NULL, NULL, NULL)
        ) AS made(n, d, s, c, e)
        """
    )
    query = "SELECT gower_ranges('t', ['n', 'd', 's', 'c', 'e'])"
    assert con.sql(query).fetchall() == [
        ({"n": 4.0, "d": 10.0, "s": 1_000_000.0, "c": None, "e": 0.0},)
    ]


def test_declared_roles_serve(people):
    assert list(people.sql("SELECT gower_ranges('people')").fetchall()[0][0]) == [
        *("age", "city", "sex", "born"),
    ]
