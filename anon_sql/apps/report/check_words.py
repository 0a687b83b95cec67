"""Say of each property of an audit what it means, and what follows where it fails."""

MEANING = {
    "rows": "The release has the rows of the raw table, no fewer and no more.",
    "k": "Every combination of generalized values is shared by at least k rows.",
    "l": "Every group of rows that look alike has at least l different sensitive values.",
    "t": "In every group the sensitive values are distributed nearly as in the whole table.",
    "beta": "No sensitive value is much more frequent in a group than in the whole table.",
    "delta": "No sensitive value is much more frequent, or rarer, in a group than in the table.",
    "suppressed rows": "Suppressed rows are none, or at least k.",
    "kept values": "The columns that are kept unchanged have the values of the raw table.",
    "labels": "Every released row is true of at least one person of the raw table.",
    "raw rows": "Every row of the raw table is described by some released row.",
    "matching": "Each released row can be paired with a raw row of its own that it is true of.",
    "spelling": "Generalized values are written as a release writes them.",
    "wider labels": "Labels that end at no value of the raw table, as those widened afterwards do.",
    "unique range ends": "Ranges end at real values. An end that one row alone has may be known.",
    "added columns": "The release has no column that the raw table lacks.",
    "identifiers": "No declared identifier is in the release.",
    "identifying columns": "No column without a role has a different value in nearly every row.",
    "row numbers": "No column numbers the rows.",
    "identifying combinations": "No row is unique on the columns kept unchanged, together.",
    "pseudonyms": "No column has pseudonyms by which two releases could be joined.",
}
CONSEQUENCE = {
    "rows": "Rows were lost or added after the release was made.",
    "k": "A person can be narrowed down to fewer rows than promised.",
    "l": "Whoever finds the group of a person learns the sensitive value, or nearly so.",
    "t": "The group of a person says more about the sensitive value than was allowed.",
    "beta": "The group of a person makes a sensitive value more likely than was allowed.",
    "delta": "The group of a person says more about a sensitive value than was allowed.",
    "suppressed rows": "So few suppressed rows stand out.",
    "kept values": "Values were changed after the release was made, or belong to another table.",
    "labels": "Rows were changed after the release was made, or belong to another table.",
    "raw rows": "Persons of the raw table are missing or described wrongly.",
    "matching": "Values were exchanged between rows after the release was made.",
    "spelling": "The file was edited or converted after the release was made.",
    "wider labels": "The labels were widened after the release was made.",
    "unique range ends": "The end of the range is the value of one person.",
    "added columns": "Nobody has decided whether these columns may be published.",
    "identifiers": "The release names persons. It is not anonymous.",
    "identifying columns": "Such a column works like an identifier.",
    "row numbers": "Whoever has the raw table can look rows up by their number.",
    "identifying combinations": (
        "Whoever knows these values of a person finds the row, whatever k is. Declare the columns "
        "as quasi-identifiers, or leave them out."
    ),
    "pseudonyms": "Releases with the same pseudonyms can be joined.",
}
