"""oka: what the seed decides."""


def test_another_seed_begins_elsewhere(people):
    releases = {
        tuple(sorted(people.execute(f"FROM oka('people', seed := {seed})").fetchall(), key=str))
        for seed in (1, 1, 2)
    }
    assert len(releases) == 2
