"""audit names the kept columns that hold pseudonyms: they link one release with the next."""

import pytest

from tests.privacy.test_audit import audit

KEY = "a secret key of the hospital"


@pytest.fixture
def visits(con):
    con.execute(
        f"""
        CREATE TABLE people AS SELECT
            i AS age, anon_pseudonym(i % 7, '{KEY}') AS "who, ""x"" y",
            if(i % 2 = 0, NULL, upper(sha256(i::VARCHAR))) AS hashed,
            sha256(i::VARCHAR)[:63] AS shorter, if(i = 3, 'none', sha256('a')) AS nearly,
            NULL::VARCHAR AS empty, i % 3 AS number
        FROM range(40) AS r(i);
        CREATE TABLE r AS FROM anonymize('people', k := 5, qids := ['age'], keep := ['*']);
        """
    )
    return con


def test_columns_of_pseudonyms_are_undecided(visits):
    found = audit(visits, qids=["age"], keep=["*"])["pseudonyms"]
    assert found[:3] == (0, 2, None)
    assert found[3] == 'who, "x" y, hashed'


def test_a_release_without_them_passes(visits):
    visits.execute(
        """ALTER TABLE r DROP COLUMN hashed; ALTER TABLE r DROP COLUMN "who, ""x"" y" """
    )
    assert audit(visits, qids=["age"])["pseudonyms"] == (0, 0, True, None)


def test_a_column_that_the_raw_table_lacks(visits):
    visits.execute(f"CREATE TABLE more AS SELECT *, anon_pseudonym(number, '{KEY}') AS p FROM r")
    assert audit(visits, "more", qids=["age"])["pseudonyms"][:3] == (0, 3, None)


def test_an_empty_release(visits):
    visits.execute("CREATE TABLE none AS FROM r LIMIT 0")
    assert audit(visits, "none", qids=["age"])["pseudonyms"] == (0, 0, True, None)
