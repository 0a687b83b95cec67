"""top_down: what the seed decides."""


def test_another_seed_splits_otherwise(people):
    releases = {
        tuple(
            sorted(people.execute(f"FROM top_down('people', seed := {seed})").fetchall(), key=str)
        )
        for seed in (1, 1, 2)
    }
    assert len(releases) == 2
