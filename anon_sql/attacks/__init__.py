"""Attacks on releases, which count what an attacker learns about people of the raw table."""
