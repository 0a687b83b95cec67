"""k_member: rows left over, and what the seed decides."""


def test_rows_left_over_join_the_class_that_grows_least(con):
    """Worked out by hand: two classes of three, and 40 joins 30 … 36 rather than 0 … 2."""
    con.execute("CREATE TABLE t AS SELECT unnest([0, 1, 2, 30, 33, 36, 40]) AS a")
    found = con.execute("SELECT a, count(*) FROM k_member('t', k := 3, quasi := ['a']) GROUP BY a")
    assert set(found.fetchall()) == {("[0, 2]", 3), ("[30, 40]", 4)}


def test_another_seed_begins_elsewhere(people):
    releases = {
        tuple(
            sorted(people.execute(f"FROM k_member('people', seed := {seed})").fetchall(), key=str)
        )
        for seed in (1, 1, 2, 3)
    }
    assert len(releases) > 1
