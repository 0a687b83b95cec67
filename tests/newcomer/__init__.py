"""The package as a newcomer meets it: a wheel, an empty folder, a terminal, and the pages."""
