"""full_domain: no legal node is better, by plain enumeration; one level per column; ``like``."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anon_sql
from tests.drawing import examples
from tests.inserting import insert
from tests.oracles import quoted
from tests.release.levels import VALUES, discernibility, gcp, nodes, solvable, value
from tests.sentence import fails
from tests.test_hierarchical import QUASI, hierarchy

ASKED = [{}, {"l": 2}, {"l": 1.5, "kind": "entropy"}, {"t": 0.5}, {"persons": True, "l": 2}]
ROW = st.tuples(
    *map(st.sampled_from, VALUES),
    st.sampled_from([1, 2, 3]),
    st.sampled_from(["a", "b"]),
    st.integers(0, 9),
)


@pytest.fixture(scope="module")
def shared():
    with anon_sql.connect() as con:
        hierarchy(con)
        yield con


def fill(con, rows):
    con.execute(
        "CREATE OR REPLACE TABLE t (s VARCHAR, n INTEGER, d DATE, x INTEGER, w VARCHAR, p INTEGER)"
    )
    insert(con, "t", rows)


def call(function, k, how, **more):
    given = {
        "quasi": QUASI,
        "sensitive": ["x", "w"],
        "hierarchy": "h",
        **({"l": how["l"]} if "l" in how else {}),
        **({"l_kind": how["kind"]} if "kind" in how else {}),
        **({"t": how["t"]} if "t" in how else {}),
        **({"entity": "p"} if how.get("persons") else {"keep": ["p"]}),
        **more,
    }
    listed = ", ".join(f"{name} := {value!r}" for name, value in given.items())
    return f"FROM {function}('t', k := {k}, {listed})"


@examples(25)
@given(
    rows=st.lists(ROW, min_size=4, max_size=30),
    k=st.integers(2, 4),
    share=st.sampled_from([0, 0, 0.1, 0.3, 1.0]),
    minimize=st.sampled_from(["gcp", "gcp", "dm", "height"]),
    how=st.sampled_from(ASKED),
    suppressed=st.sampled_from(["keep", "drop"]),
    fixed=st.sampled_from([(), (), ("s",)]),
)
def test_no_legal_node_is_better(shared, rows, k, share, minimize, how, suppressed, fixed):
    """Every node that lattice lists is what enumeration says, and the best of all is released."""
    fill(shared, rows)
    definition = {"k": k, "l": 1, "kind": "distinct", "c": 3.0, "t": 1.0, "persons": False, **how}
    more = {"suppression_limit": share, "minimize": minimize, "suppressed": suppressed}
    if fixed:
        more["strata"] = list(fixed)
    limit = int(share * len(rows) + 1e-9)
    if not solvable(rows, definition, fixed):
        return  # an error of its own
    every = nodes(rows, definition, limit, suppressed == "keep", fixed)
    if not any(found["legal"] for found in every.values()):
        said = fails(shared, call("full_domain", k, how, **more))
        assert said.startswith("full_domain: a combination of levels must be legal with at most")
        return
    looked = shared.execute(call("lattice", k, how, **more)).fetchall()
    for levels, lost, starred, classes, legal, _ in looked:
        assert list(levels) == QUASI
        found = every[tuple(levels.values())]
        assert legal == found["legal"]
        if legal:
            assert lost == pytest.approx(found["loss"])
            assert (starred, classes) == (found["suppressed"], found["classes"])
    least = min(value(node, own, minimize) for node, own in every.items() if own["legal"])
    (best,) = [tuple(row[0].values()) for row in looked if row[5]]
    assert value(best, every[best], minimize) == pytest.approx(least)
    released = shared.execute(call("full_domain", k, how, **more)).fetchall()
    if suppressed == "keep":
        assert len(released) == len(rows)
        assert gcp(released) == pytest.approx(every[best]["loss"])
        assert discernibility(released) == every[best]["dm"]
        assert Counter(row[:3] for row in released)["*", "*", "*"] == every[best]["suppressed"]
    else:
        assert len(released) == len(rows) - every[best]["suppressed"]


SOME = ["marital_status", "race", "relationship", "sex", "workclass"]
ALL = [*SOME, "native_country", "occupation"]


@pytest.mark.parametrize(
    ("names", "k", "share"),
    [
        *product([SOME], [5, 10], [0, 0.05]),
        pytest.param(ALL, 5, 0.05, marks=pytest.mark.slow),
        pytest.param(ALL, 10, 0, marks=pytest.mark.slow),
    ],
)
def test_adult_with_its_taxonomies(con, shared_data, names, k, share):
    """The loss is the least of all nodes, each judged on counts of combinations in numpy."""
    con.execute(f"CREATE TABLE adult AS FROM '{shared_data}/adult.parquet' WHERE split = 'train'")
    con.execute(
        f"CREATE TABLE h AS FROM read_hierarchies('{shared_data}/hierarchies/adult_taxonomy/*.csv')"
    )
    roles = f"quasi := {names}, hierarchy := 'h'"
    con.execute(
        f"CREATE TABLE r AS FROM full_domain('adult', k := {k}, {roles}, keep := ['*'], "
        f"suppression_limit := {share})"
    )
    counted = con.execute(f"SELECT {quoted(names)}, count(*) FROM adult GROUP BY ALL").fetchall()
    rows = sum(combination[-1] for combination in counted)
    held = [levels_of(con, name, at, counted) for at, name in enumerate(names)]
    sizes = np.array([combination[-1] for combination in counted])
    best = float(len(names))
    for node in product(*held):
        group = np.unique(
            np.column_stack([codes for codes, _ in node]), axis=0, return_inverse=True
        )
        many = np.bincount(group[1].reshape(-1), weights=sizes)
        small = (many < k)[group[1].reshape(-1)]
        left = int(sizes[small].sum())
        if left <= share * rows and not 0 < left < k:
            lost = sum(loss for _, loss in node)
            best = min(best, float((sizes * np.where(small, len(names), lost)).sum()) / rows)
    found = con.execute(f"SELECT gcp('adult', 'r', {roles})").fetchall()
    assert found[0][0] * len(names) == pytest.approx(best)


def levels_of(con, name, at, counted):
    """Codes and losses of each combination at each level of a column's taxonomy."""
    path = {}
    for leaf, _, label in con.execute(
        f"SELECT value, level, label FROM h WHERE attribute = '{name}' ORDER BY level"
    ).fetchall():
        path.setdefault(leaf, [leaf]).append(label)
    top = max(map(len, path.values()))
    full = {leaf: [labels[0]] * (top - len(labels)) + labels for leaf, labels in path.items()}
    found = []
    for level in range(top):
        below = Counter(labels[level] for labels in full.values())
        share = {label: many / len(full) if many > 1 else 0 for label, many in below.items()}
        if level == top - 1:
            share = dict.fromkeys(share, 1.0)
            full |= {None: full[next(iter(full))]}
        labels = [full[row[at]][level] if row[at] in full else None for row in counted]
        codes = np.unique([label or "" for label in labels], return_inverse=True)[1]
        found.append((codes, np.array([share.get(label, 0) for label in labels])))
    return found


def test_numbers_without_a_hierarchy_have_ranges_of_equal_widths(con):
    con.execute(
        "CREATE TABLE t AS SELECT if(i % 50 = 0, NULL, i * 31 % 97) AS n, i % 4 / 4.0 AS x, "
        "DATE '2000-01-01' + (i * 7 % 400)::INT AS d, chr((97 + i % 26)::INT) AS c FROM range(500) AS r(i)"
    )
    for minimize in ("gcp", "dm", "height"):
        con.execute(
            "CREATE OR REPLACE TABLE r AS FROM full_domain('t', k := 3, quasi := ['n', 'd', 'c'], "
            f"keep := ['*'], suppression_limit := 0.1, minimize := '{minimize}')"
        )
        shown = con.execute(
            "SELECT DISTINCT anon_min(n)::INT, anon_max(n)::INT FROM r "
            "WHERE anon_min(n) IS NOT NULL ORDER BY ALL"
        ).fetchall()
        widths = [w for w in (1, 5, 10, 20, 40, 80) if all(a // w == b // w for a, b in shown)]
        assert widths
        assert len({a // widths[0] for a, _ in shown}) == len(shown)
        texts = con.execute("SELECT DISTINCT c FROM r WHERE n <> '*' OR d <> '*'").fetchall()
        assert ("*",) not in texts or len(texts) == 1
    (sizes,) = con.execute(
        "SELECT list(n) FROM (SELECT count(*) AS n FROM r GROUP BY n, d, c)"
    ).fetchall()
    assert min(sizes[0]) >= 3


def test_ends_of_ranges_are_released_values(con):
    """The value of a suppressed row is in no label."""
    con.execute("CREATE TABLE t AS SELECT i % 9 AS n, i // 9 AS c FROM range(90) AS r(i)")
    con.execute("INSERT INTO t VALUES (99, 3)")
    con.execute(
        "CREATE TABLE r AS FROM full_domain('t', k := 5, quasi := ['n', 'c'], suppressed := 'drop', "
        "suppression_limit := 0.05)"
    )
    assert con.execute("SELECT count(*), max(anon_max(n)::INT) FROM r").fetchall() == [(90, 8)]


def test_hostile_names_and_one_column_after_another(con):
    con.execute(
        """CREATE TABLE "o'dd té" AS SELECT i % 7 AS "like", i % 3 AS "a.b""c", i AS "é" """
        "FROM range(60) AS r(i)"
    )
    found = con.sql(
        """FROM full_domain('"o''dd té"', k := 4, quasi := ['like', 'a.b"c'], keep := ['é', '*'])"""
    )
    assert found.columns == ["like", 'a.b"c', "é"]
    assert min(Counter(row[:2] for row in found.fetchall()).values()) >= 4
    everything = """FROM lattice('"o''dd té"', k := 2, quasi := ['like', 'a.b"c'],"""
    strata = con.execute(f"""{everything} strata := ['a.b"c', 'like'])""").fetchall()
    assert [(row[0], row[5]) for row in strata] == [({"like": 0, 'a.b"c': 0}, True)]


def test_a_lattice_that_is_too_large(con):
    columns = ", ".join(f"hash(i, {at}) % 1000003 AS c{at}" for at in range(12))
    con.execute(f"CREATE TABLE t AS SELECT {columns} FROM range(3000) AS r(i)")
    names = [f"c{at}" for at in range(12)]
    said = fails(con, f"FROM full_domain('t', k := 2, quasi := {names}, suppression_limit := 1)")
    assert said.startswith(
        "full_domain: the levels of the columns must have at most 4,194,304 combinations, got "
    )


def test_like_is_in_parts_and_other_functions_refused(con, tmp_path):
    con.execute("CREATE TABLE t AS SELECT i % 7 AS a, i % 3 AS b FROM range(60) AS r(i)")
    with pytest.raises(Exception, match="full_domain: the table must be released in one statement"):
        anon_sql.release(
            con, "t", into="r", k=5, method="full_domain", quasi=["a", "b"], part_rows=20
        )
    anon_sql.release(con, "t", into="may", k=5, method="full_domain", quasi=["a", "b"])
    anon_sql.release(con, "t", into="june", k=5, method="full_domain", quasi=["a", "b"], like="may")
    assert Counter(con.execute("FROM may").fetchall()) == Counter(
        con.execute("FROM june").fetchall()
    )
    ((note,),) = con.execute(
        "SELECT note FROM compare('t', methods := 'full_domain', ks := [5], quasi := ['a', 'b'], "
        "options := {'full_domain': {'like': 'may'}})"
    ).fetchall()
    assert note.startswith("full_domain: like must be a parameter of the function itself")
