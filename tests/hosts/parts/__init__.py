"""Releases of tables that are made in parts."""
