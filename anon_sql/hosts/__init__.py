"""Hosts carry rows to the core and back; each is a package of its own."""
