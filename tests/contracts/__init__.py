"""What DuckDB does but does not promise, on the oldest and the newest supported version."""
