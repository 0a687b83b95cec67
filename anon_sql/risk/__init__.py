"""Re-identification risk of a release, also against a table of the population."""
