"""What DuckDB does but does not promise: hashes, sort keys, texts of settings, errors and secrets.

Each is used through one function here, or one macro in ``sql/internal``. The errors whose meaning
users are told are in ``hosts/duckdb/errors.py``. ``tests/contracts`` has a test for each, which is
run on the oldest and the newest supported version.
"""
