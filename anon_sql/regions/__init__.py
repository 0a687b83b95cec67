"""The regions of a table that is released in parts: the routing tree, its SQL, the plan."""
