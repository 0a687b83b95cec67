"""Commands of ``anon-sql`` that read and write files, one a file; ``cli`` lists them."""
