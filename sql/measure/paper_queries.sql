-- The queries by which a paper measures releases of Adult, for query_error with mode := 'literal'.
--
-- paper: 'm_cof', Q1 to Q4 of Kara and Eyüpoğlu 2023 (M-COF), section 4.2.4; the Age_Min of the
--   paper is the minimum age of a label, as in mode 'literal'.
-- Returns: VARCHAR[], queries on the columns workclass, age, race and native_country of `raw`.
-- Errors: an unknown paper.
-- Example: SELECT unnest(paper_queries('m_cof')) AS query;
CREATE OR REPLACE MACRO paper_queries(paper) AS CASE paper
    WHEN 'm_cof' THEN [
        'SELECT count(*) FROM raw WHERE workclass IN (''Private'', ''Self-emp-not-inc'', ''Self-emp-inc'') AND age = 35',
        'SELECT count(*) FROM raw WHERE race = ''Black'' AND native_country = ''United-States''',
        'SELECT count(*) FROM raw WHERE workclass IN (''Private'', ''Self-emp-not-inc'', ''Self-emp-inc'') AND age > 55 AND race = ''White''',
        'SELECT count(*) FROM raw WHERE workclass IN (''Private'', ''Self-emp-not-inc'', ''Self-emp-inc'') AND age > 70 AND race = ''White'''
    ]
    ELSE error('paper_queries: paper must be one of ''m_cof''')
END;
