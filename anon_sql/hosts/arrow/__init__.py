"""Release the rows of a relation or a frame in one statement: they are Arrow from end to end."""
