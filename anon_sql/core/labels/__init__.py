"""Labels of quasi-identifiers: grammar, creation, parsing and verification against the values."""
