-- Select entries of lists and options for a manifest.

-- Return the names of the columns that have a role, in the order of the table.
CREATE OR REPLACE MACRO __anon_named_as(__anon_columns, __anon_role) AS list_transform(
    list_filter(__anon_columns, lambda __anon_x: __anon_x.role IS NOT DISTINCT FROM __anon_role),
    lambda __anon_x: __anon_x.name);

-- Return the result of an audit for one property.
CREATE OR REPLACE MACRO __anon_found_of(__anon_checks, __anon_property) AS list_filter(
    __anon_checks, lambda __anon_x: __anon_x.property = __anon_property)[1].found;

-- Return the weights among the options of a release, a struct; NULL for none.
CREATE OR REPLACE MACRO __anon_weights_in(__anon_options) AS TRY_CAST(
    json_extract(to_json(__anon_options), '$.weights') AS MAP(VARCHAR, DOUBLE));
