"""Ten threads with a cursor each, and asyncio, get what one thread gets."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pytest

from anon_sql.hosts.duckdb.errors import error_text

pytestmark = pytest.mark.quick

CALLS = [
    *(f"FROM mondrian('people', k := {k}) ORDER BY ALL" for k in (4, 7, 10)),
    "FROM rayden('people', k := 5) ORDER BY ALL",
    "FROM audit('people', 'released', 3)",
    "SELECT gcp('people', 'released')",
    "FROM mondrian('people', k := 0)",
    "FROM rayden('people', k := 5, quasi := ['nowhere'])",
    "FROM mondrian('people', k := 4000)",
]


def answer(cursor, sql):
    """Return the rows of a call, or the sentence of its error."""
    try:
        return cursor.execute(sql).fetchall()
    except duckdb.Error as error:
        return error_text(error)


@pytest.fixture
def alone(people):
    """What each call answers in one thread; the table ``released`` is left."""
    people.execute("CREATE TABLE released AS FROM mondrian('people', k := 3)")
    answers = [answer(people, sql) for sql in CALLS]
    assert [type(found) for found in answers] == 6 * [list] + 3 * [str]
    assert len(set(answers[6:])) == 3
    return answers


@pytest.mark.slow
def test_ten_threads_get_the_results_and_errors_of_one(people, alone):
    def work(at):
        with people.cursor() as cursor:
            order = [(at + place) % len(CALLS) for place in range(len(CALLS))]
            return [(of, answer(cursor, CALLS[of])) for of in order]

    with ThreadPoolExecutor(10) as pool:
        for found in pool.map(work, range(10), timeout=120):
            for of, got in found:
                assert got == alone[of], CALLS[of]


def test_calls_of_asyncio_run_in_its_threads(people, alone):
    def call(sql):
        with people.cursor() as cursor:
            return answer(cursor, sql)

    async def main():
        loop = asyncio.get_running_loop()
        waiting = [loop.run_in_executor(None, call, sql) for sql in CALLS]
        return await asyncio.wait_for(asyncio.gather(*waiting), 120)

    assert asyncio.run(main()) == alone
