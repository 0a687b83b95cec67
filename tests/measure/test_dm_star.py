"""dm_star: a suppressed row costs the size of the raw table."""


def test_by_hand(measured):
    assert measured("dm_star") == 4 * 2**2 + 3 * 11


def test_without_suppressed_rows_it_is_dm(people):
    people.execute("CREATE TABLE release AS FROM rayden('people', k := 5)")
    dm, star, rate = people.execute(
        "SELECT dm('people', 'release'), dm_star('people', 'release'), "
        "suppression_rate('people', 'release')"
    ).fetchall()[0]
    assert (star, rate) == (dm, 0)
