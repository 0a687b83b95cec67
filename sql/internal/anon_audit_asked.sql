-- What an audit is called with.

-- Roles: no column is taken for dropped, since a leftover identifier is to be found.
CREATE OR REPLACE MACRO __anon_audit_call(
    __anon_raw, __anon_qids, __anon_sensitive, __anon_identifiers, __anon_keep
) AS __anon_call_of(
    __anon_raw, __anon_qids, __anon_sensitive, __anon_identifiers, __anon_keep, NULL, NULL, true);

CREATE OR REPLACE MACRO __anon_audit_asked(
    __anon_raw, __anon_released, __anon_k, __anon_options, __anon_entity, __anon_call
) AS TABLE
SELECT __anon_audit_asks(
    __anon_r.__anon_types, __anon_s.__anon_types, __anon_r.__anon_k_given, __anon_options,
    __anon_entity, __anon_call, __anon_seen(__anon_raw || ' ' || __anon_released),
    __anon_released) AS __anon_protects
FROM
    __anon_schema(__anon_raw, __anon_k) AS __anon_r,
    __anon_schema(__anon_released, 0) AS __anon_s;
