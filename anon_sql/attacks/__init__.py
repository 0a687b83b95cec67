"""What an attacker learns from a release about a person of the raw table."""
