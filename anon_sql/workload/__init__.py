"""The users' own queries: parsed, asked of a raw table and of its release, and compared."""
