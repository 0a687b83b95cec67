-- What a call says about roles, with the place it was made from; folded while it is bound.
CREATE OR REPLACE MACRO __anon_scope(
    __anon_tbl, __anon_qids, __anon_sensitive, __anon_identifiers, __anon_keep) AS {
    'db': __anon_db(),
    'relation': __anon_tbl,
    'database': current_database(),
    'schema': current_schema(),
    'path': current_setting('search_path'),
    'qids': __anon_qids,
    'sensitive': __anon_sensitive,
    'identifiers': __anon_identifiers,
    'keep': __anon_keep
};
