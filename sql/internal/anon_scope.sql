-- Return the parameters of a call that concern roles, with the caller's database, schema, search path
-- and transaction. The struct is a constant when the statement is bound.
CREATE OR REPLACE MACRO __anon_call_of(
    __anon_tbl, __anon_qids, __anon_sensitive, __anon_identifiers, __anon_keep,
    __anon_classes, __anon_drops, __anon_whole,
    __anon_entity := NULL, __anon_l := 1, __anon_t := 1
) AS system.main.struct_pack(
    db := __anon_db(),
    transaction := system.main.txid_current(),
    relation := __anon_tbl,
    database := system.main.current_database(),
    schema := system.main.current_schema(),
    path := system.main.current_setting('search_path'),
    qids := __anon_qids,
    sensitive := __anon_sensitive,
    identifiers := __anon_identifiers,
    keep := __anon_keep,
    classes := __anon_classes,
    drops := __anon_drops,
    whole := __anon_whole,
    entity := __anon_entity,
    l := __anon_l,
    t := __anon_t);

-- Return the columns that a release drops because of its entity: keep := ['*'] does not mean them.
CREATE OR REPLACE MACRO __anon_entity_of(__anon_entity) AS
    CASE WHEN __anon_entity IS NOT NULL THEN system.main.list_value(__anon_entity) END;

-- The struct of a release: identifiers are dropped.
CREATE OR REPLACE MACRO __anon_scope(
    __anon_tbl, __anon_qids, __anon_sensitive, __anon_identifiers, __anon_keep,
    __anon_entity := NULL, __anon_l := 1, __anon_t := 1
) AS __anon_call_of(
    __anon_tbl, __anon_qids, __anon_sensitive, __anon_identifiers, __anon_keep,
    NULL, NULL, false,
    __anon_entity := __anon_entity, __anon_l := __anon_l, __anon_t := __anon_t);

-- The struct of a building block: no column is dropped; classes: the column of class ids.
CREATE OR REPLACE MACRO __anon_step(__anon_tbl, __anon_qids, __anon_classes) AS __anon_call_of(
    __anon_tbl, __anon_qids, NULL, NULL, NULL, __anon_classes, NULL, true);
