"""The form in which DuckDB prints a secret."""

SECRET_TEXTS = (
    "SELECT secret_string FROM system.main.duckdb_secrets(redact := false) "
    "WHERE system.main.lower(name) = system.main.lower(?)"
)  # of a name, with what they keep secret; DuckDB refuses it without allow_unredacted_secrets
_LAST = ";scope;bearer_token="  # the other fields come first, in the order of their names


def bearer_token(text: str) -> str | None:
    """Return the token of a secret of type http; None if there is none, or another field."""
    value = text.rpartition(_LAST)[2] if _LAST in text else ""
    return None if ";" in value or not value else value
