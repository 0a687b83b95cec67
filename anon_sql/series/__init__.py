"""Release a table repeatedly: permanent cohorts, the state that stores them, and releases."""
