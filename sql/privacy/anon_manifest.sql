-- The manifest of a release, for its recipients: how it was made and what it achieves. It holds
-- names of columns, parameters and measures, and a hash of the names and types of the raw table's
-- columns. It holds no value, no minimum or maximum, and no path.
--
-- Requirements, roles and earlier releases are as in audit.
-- raw: name of the raw table. released: name of its release, in any format.
-- method: method of the release, recorded as given.
-- seed: seed of the release, recorded as given.
-- options: other parameters of the release, recorded as given; weighted_gcp uses the weights among
--   them, such as {'weights': MAP {'age': 2}}.
-- purpose: purpose of the release, a text.
-- recipient: recipient of the release, a text.
-- assumptions: list of assumptions about what recipients know and may do; NULL for none.
-- environment: where the recipient has the release: 'public', 'contract' (bound by an agreement) or
--   'secure' (a secure room); NULL means not stated.
-- review_by: date by which the release is looked at again; NULL for none.
-- review: list of what must be looked at again by then; NULL for none.
-- Returns: one row of numbers, texts, lists and structs: manifest (1, the version of the format),
--   statement (purpose, recipient, environment, assumptions, review_by,
--   review), versions (of anon_sql, DuckDB and the row hash),
--   method, parameters, roles (names by role; columns in without_role are kept unchanged), raw, achieved (k, l, t, beta, delta and the levels
--   of all other privacy models), series (previous: name and rows_sha256, as in a ledger, of each
--   earlier release, previous_share, and cohorts: of a release of a series its number, l, rows of
--   former members and people who wait, and the largest share of a group of like people that waits;
--   else NULL), checks (property, required, found, passed, as in audit),
--   measures (as in utility, and weighted_gcp, the gcp by the weights of the release; NULL without),
--   loss (as in attribute_loss). Measures and loss of a release of a series are of its own rows alone.
--   COPY writes it as JSON.
-- Errors: those of audit and utility.
-- Example: SELECT * FROM anon_manifest('people', 'release', 'rayden', k := 2, quasi := ['age', 'city']);
CREATE OR REPLACE MACRO anon_manifest(
    raw, released, method := NULL, k := NULL, l := NULL, t := NULL, l_kind := 'distinct', c := 3,
    entity := NULL, seed := NULL, options := NULL, quasi := NULL, sensitive := NULL,
    identifiers := NULL, keep := NULL, hierarchy := NULL, suppressed := 'keep', unique_share := 0,
    beta := NULL, delta := NULL, purpose := NULL, recipient := NULL, assumptions := NULL,
    previous := NULL, previous_share := 0, beta_kind := 'enhanced', max_share := NULL,
    exclude := NULL, series := NULL, key := 'env:ANON_KEY', unit := 'person', ordered := NULL,
    environment := NULL, review_by := NULL, review := NULL
) AS TABLE
WITH
__anon_assigned AS MATERIALIZED (
    SELECT __anon_methods_roles_of(
        __anon_types, __anon_scope(raw, system.main.struct_pack(
            quasi := quasi, sensitive := sensitive, identifiers := identifiers, keep := keep,
            exclude := exclude, drops := __anon_entity_of(entity))),
        __anon_seen(raw))
        AS __anon_columns
    FROM __anon_schema(raw, 1)
),
__anon_audited AS MATERIALIZED (
    SELECT list({
        'property': property, 'required': required, 'found': if(isfinite(found), found, NULL),
        'passed': passed})
        AS __anon_checks
    FROM audit(
        raw, released, k := k, l := coalesce(l, 1), t := coalesce(t, 1), quasi := quasi,
        sensitive := sensitive, identifiers := identifiers, keep := keep, l_kind := l_kind, c := c,
        hierarchy := hierarchy, entity := entity, suppressed := suppressed,
        unique_share := unique_share, beta := beta, delta := delta,
        previous := previous, previous_share := previous_share, beta_kind := beta_kind,
        max_share := max_share, exclude := exclude, series := series, key := key, unit := unit,
        ordered := ordered
    )
),
__anon_measured_once AS MATERIALIZED (
    SELECT struct_pack(*COLUMNS(*)) AS __anon_measures
    FROM __anon_utility(
        'utility', raw, released, coalesce(k, 5), quasi, hierarchy, NULL,
        __anon_own := series IS NOT NULL)
),
__anon_lost_once AS MATERIALIZED (
    SELECT
        list_transform(__anon_found.attributes, lambda __anon_x, __anon_i:
            {'attribute': __anon_x, 'ncp': __anon_found.ncp[__anon_i]}) AS __anon_loss,
        if(__anon_weights_in(options) IS NULL, NULL, __anon_found.gcp) AS __anon_weighted_gcp
    FROM __anon_measures(
        'anon_manifest', raw, released, quasi, hierarchy,
        __anon_weights := __anon_weights_in(options), __anon_own := series IS NOT NULL)
)
SELECT
    1 AS manifest,
    {
        'purpose': purpose, 'recipient': recipient, 'environment': environment,
        'assumptions': coalesce(assumptions, []::VARCHAR[]),
        'review_by': review_by::VARCHAR, 'review': coalesce(review, []::VARCHAR[])
    } AS statement,
    {
        'anon_sql': anon_version(), 'duckdb': version(), 'row_hash': __anon_row_hash_version()
    } AS versions,
    method AS method,
    system.main.struct_insert(
        system.main.struct_pack(
            k := k, l := l, t := t, l_kind := l_kind, c := c, entity := entity, seed := seed,
            suppressed := suppressed, unique_share := unique_share, beta := beta, delta := delta,
            beta_kind := beta_kind, max_share := max_share, unit := unit, ordered := ordered),
        hierarchy := hierarchy IS NOT NULL, options := options) AS parameters,
    {
        'quasi': __anon_named_as(__anon_columns, 'quasi'),
        'sensitive': __anon_named_as(__anon_columns, 'sensitive'),
        'identifiers': __anon_named_as(__anon_columns, 'identifier'),
        'keep': __anon_named_as(__anon_columns, 'keep'),
        'exclude': __anon_named_as(__anon_columns, 'exclude'),
        'without_role': __anon_named_as(__anon_columns, NULL)
    } AS roles,
    {
        'schema_sha256': sha256(to_json(list_transform(
            __anon_columns, lambda __anon_x: [__anon_x.name, __anon_x.type]))::VARCHAR)
    } AS raw,
    {
        'k': __anon_found_of(__anon_checks, 'k'),
        'l': __anon_found_of(__anon_checks, 'l'),
        't': __anon_found_of(__anon_checks, 't'),
        'beta': __anon_found_of(__anon_checks, 'beta'),
        'delta': __anon_found_of(__anon_checks, 'delta'),
        'max_share': __anon_found_of(__anon_checks, 'max_share')
    } AS achieved,
    {
        'previous': __anon_earlier, 'previous_share': previous_share, 'cohorts': __anon_promise
    } AS series,
    __anon_checks AS checks,
    struct_insert(__anon_measures, weighted_gcp := __anon_weighted_gcp) AS measures,
    __anon_loss AS loss
FROM
    __anon_assigned, __anon_audited, __anon_measured_once, __anon_lost_once,
    __anon_earlier_hashes(previous), __anon_promise_of(series);
