"""Settings of DuckDB do not show in a measure."""

from tests.measure.test_measured import ALL, SENSITIVE, call

SETTINGS = [
    [
        *("arrow_output_version = '1.5'", "arrow_output_list_view = true"),
        *("integer_division = true", "old_implicit_casting = true"),
    ],
    [
        *("arrow_large_buffer_size = true", "default_null_order = 'nulls_first'"),
        *("default_order = 'desc'", "preserve_insertion_order = false"),
    ],
]


def test_settings_do_not_show_in_a_measure(hand, shape):
    """Neither how DuckDB hands lists over nor how it divides."""
    hand.execute(
        f"ALTER TABLE raw ADD COLUMN ill VARCHAR; ALTER TABLE {shape} ADD COLUMN ill VARCHAR"
    )
    hand.execute(
        f"UPDATE raw SET ill = if(age > 30, 'flu', 'none'); UPDATE {shape} SET ill = 'flu'"
    )
    hand.execute("CREATE TABLE h (attribute VARCHAR, value VARCHAR, level INTEGER, label VARCHAR)")
    hand.execute("INSERT INTO h VALUES ('ill', 'flu', 1, '*'), ('ill', 'none', 1, '*')")
    more = "sensitive := 'ill', hierarchy := 'h', "
    calls = [
        call(name, released=shape) for name in ALL if name not in (*SENSITIVE, "audit", "risk")
    ]
    calls += [call(name, released=shape).replace("quasi", f"{more}quasi") for name in SENSITIVE]

    def found():
        return [sorted(map(repr, hand.execute(query).fetchall())) for query in calls]

    expected = found()
    for settings in SETTINGS:
        try:
            for setting in settings:
                hand.execute(f"SET {setting}")
            assert found() == expected, settings
        finally:
            for setting in settings:
                hand.execute(f"RESET {setting.partition(' ')[0]}")
