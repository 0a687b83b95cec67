"""Programs around the SQL functions: command line, shell, report, Harlequin and their files."""
