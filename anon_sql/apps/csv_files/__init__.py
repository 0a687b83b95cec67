"""Read CSV files as they are: the first line is the header, every line after it is a row."""
