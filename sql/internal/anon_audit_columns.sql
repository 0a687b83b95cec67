-- What the kept columns of an audited release look like, and whether those of the raw table rise.

-- A number as a DOUBLE, text that is a whole number too; NULL for all else.
CREATE OR REPLACE MACRO __anon_audit_double
    (probe, x) AS NULL::DOUBLE,
    (probe VARCHAR, x) AS try_cast(x AS BIGINT)::DOUBLE,
    (probe BOOLEAN, x) AS NULL::DOUBLE,
    (probe UUID, x) AS NULL::DOUBLE,
    (probe DOUBLE, x) AS x::DOUBLE,
    (probe TIME, x) AS NULL::DOUBLE,
    (probe TIME_NS, x) AS NULL::DOUBLE,
    (probe TIMESTAMP, x) AS NULL::DOUBLE,
    (probe TIMESTAMPTZ, x) AS NULL::DOUBLE;
CREATE OR REPLACE MACRO __anon_audit_figure(x) AS {
    'there': x IS NOT NULL,
    'number': __anon_audit_double(list_extract(list_value(x), 1), x)};
-- held: values; consecutive: as many whole numbers as lie between the least and the greatest.
CREATE OR REPLACE MACRO __anon_audit_told(x) AS {
    'held': count(CASE WHEN x.there THEN 1 END),
    'consecutive': coalesce(
        count(x.number) = count(CASE WHEN x.there THEN 1 END) AND bool_and(x.number = floor(x.number))
        AND max(x.number) - min(x.number) + 1 = count(x.number), false)};

CREATE OR REPLACE MACRO __anon_audit_columns(__anon_released, __anon_call) AS TABLE
WITH
__anon_figures AS (
    SELECT __anon_audit_figure(COLUMNS(lambda __anon_c:
        NOT __anon_is('quasi', __anon_c, __anon_call)))
    FROM (SELECT *, '' AS __anon_zero FROM query_table(__anon_released))
),
__anon_told AS (SELECT __anon_audit_told(COLUMNS(*)) FROM __anon_figures),
__anon_pairs AS (
    SELECT __anon_named(alias(COLUMNS(__anon_told.*)), COLUMNS(__anon_told.*)) FROM __anon_told
)
SELECT list_value(*COLUMNS(*)) AS __anon_looks FROM __anon_pairs;

-- Whether a number, date or time is greater than the one before it, in the order of the scan.
CREATE OR REPLACE MACRO __anon_audit_rises_by
    (probe, x) AS false,
    (probe VARCHAR, x) AS false,
    (probe BOOLEAN, x) AS false,
    (probe UUID, x) AS false,
    (probe DOUBLE, x) AS coalesce(x > lag(x) OVER (), x IS NOT NULL),
    (probe TIME, x) AS coalesce(x > lag(x) OVER (), x IS NOT NULL),
    (probe TIME_NS, x) AS coalesce(x > lag(x) OVER (), x IS NOT NULL),
    (probe TIMESTAMP, x) AS coalesce(x > lag(x) OVER (), x IS NOT NULL),
    (probe TIMESTAMPTZ, x) AS coalesce(x > lag(x) OVER (), x IS NOT NULL);
CREATE OR REPLACE MACRO __anon_audit_rises(x) AS
    __anon_audit_rises_by(list_extract(list_value(x), 1), x);

CREATE OR REPLACE MACRO __anon_audit_order(__anon_raw, __anon_call) AS TABLE
WITH
__anon_steps AS (
    SELECT __anon_audit_rises(COLUMNS(lambda __anon_c: __anon_is('loose', __anon_c, __anon_call)))
    FROM (SELECT *, '' AS __anon_zero FROM query_table(__anon_raw))
),
__anon_risen AS (SELECT bool_and(COLUMNS(*)) FROM __anon_steps),
__anon_pairs AS (
    SELECT __anon_named(alias(COLUMNS(__anon_risen.*)), COLUMNS(__anon_risen.*))
    FROM __anon_risen
)
SELECT list_value(*COLUMNS(*)) AS __anon_rising FROM __anon_pairs;
