"""The routing of a table that is released in parts."""
