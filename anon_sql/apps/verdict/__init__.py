"""Judge a release: red, amber or green, with reasons that name the SQL they come from."""
