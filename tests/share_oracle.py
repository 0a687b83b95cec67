"""β-likeness and δ-disclosure privacy of a release, counted by one plain SQL query."""

from tests.oracles import quoted

QUERY = """
WITH
whole AS (SELECT {value} AS v, count(*) / (SELECT count(*) FROM {raw}) AS p FROM {raw} GROUP BY v),
labelled AS (SELECT {value} AS v, row({labels})::VARCHAR AS class FROM {release}),
classes AS (SELECT class, count(*) AS size FROM labelled GROUP BY class),
shares AS (
    SELECT class, p, (
        SELECT count(*) FROM labelled AS l
        WHERE l.class = c.class AND l.v IS NOT DISTINCT FROM w.v) / size AS q
    FROM classes AS c, whole AS w)
SELECT
    max(CASE WHEN q / p - 1 > -ln(p) + 1e-9 THEN 'inf'::DOUBLE ELSE greatest(q / p - 1, 0) END),
    max(CASE WHEN q = 0 THEN 'inf'::DOUBLE ELSE abs(ln(q / p)) END)
FROM shares
"""


def beta_and_delta(con, raw, release, labels, sensitive):
    """Return the largest of both over all classes; (None, None) for an empty release."""
    return con.execute(
        QUERY.format(
            raw=quoted([raw]), release=quoted([release]), labels=quoted(labels),
            value=quoted([sensitive]),
        )
    ).fetchall()[0]  # fmt: skip
