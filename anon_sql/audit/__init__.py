"""``audit``: each property of a release, checked against its raw table."""
