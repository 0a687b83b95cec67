"""Release a table again and again: permanent cohorts, the state that keeps them, and releases."""
