-- What a call says about roles, with the place it was made from; folded while it is bound.
CREATE OR REPLACE MACRO __anon_call_of(
    __anon_tbl, __anon_qids, __anon_sensitive, __anon_identifiers, __anon_keep,
    __anon_classes, __anon_drops, __anon_whole,
    __anon_entity := NULL, __anon_l := 1, __anon_t := 1
) AS {
    'db': __anon_db(),
    'relation': __anon_tbl,
    'database': current_database(),
    'schema': current_schema(),
    'path': current_setting('search_path'),
    'qids': __anon_qids,
    'sensitive': __anon_sensitive,
    'identifiers': __anon_identifiers,
    'keep': __anon_keep,
    'classes': __anon_classes,
    'drops': __anon_drops,
    'whole': __anon_whole,
    'entity': __anon_entity,
    'l': __anon_l,
    't': __anon_t
};

-- A release: identifiers are dropped.
CREATE OR REPLACE MACRO __anon_scope(
    __anon_tbl, __anon_qids, __anon_sensitive, __anon_identifiers, __anon_keep,
    __anon_entity := NULL, __anon_l := 1, __anon_t := 1
) AS __anon_call_of(
    __anon_tbl, __anon_qids, __anon_sensitive, __anon_identifiers, __anon_keep,
    NULL, NULL, false,
    __anon_entity := __anon_entity, __anon_l := __anon_l, __anon_t := __anon_t);

-- A step on the way: every column stays, `classes` names the column that holds class ids.
CREATE OR REPLACE MACRO __anon_step(__anon_tbl, __anon_qids, __anon_classes) AS __anon_call_of(
    __anon_tbl, __anon_qids, NULL, NULL, NULL, __anon_classes, NULL, true);
