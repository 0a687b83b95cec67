"""What lifts the reasons of a verdict is tried after it is shown, and stops at another choice."""

import json
import re
import threading
import time
from html import unescape

import duckdb
import pytest

from anon_sql.apps.verdict.words import REMEDIES
from tests.apps.studio.conftest import PEOPLE, ROLES
from tests.apps.studio.test_studio_signing import MANY, anon, until
from tests.apps.studio.visitor import running
from tests.apps.test_recipe_command import UNEVEN

pytestmark = pytest.mark.slow

NOW = 'data-then="/data/remedies"'
BUTTON = 'data-run="/data/remedies?run=yes"'
BARE = "Choose a smaller k or l, a larger t, or fewer quasi-identifiers."


def reasons(page):
    """The reasons of the verdict that a page shows, as sentences."""
    return [
        " ".join(unescape(re.sub("<[^>]+>", "", each)).split())
        for each in re.findall("<li>(<strong>.*?)</li>", page, re.DOTALL)
    ]


@pytest.fixture
def lossy(studio):
    """The studio, with a k that loses much, and a check of it."""
    studio.choose("t", "0.5")
    studio.choose("k", 200)
    studio.page("/data/check?run=yes")
    return studio


def test_the_page_says_what_was_tried_as_the_command_does(lossy):
    page = lossy.page("/data/check")
    assert NOW in page
    assert all(each.endswith(BARE) for each in reasons(page))
    tried = lossy.page("/data/remedies")
    assert "Leaving out height lifts it: " in tried
    assert "tried on 1,000 rows." in tried
    lossy.page("/save", {"recipe": "lossy.recipe.toml", "overwrite": True})
    said = anon(lossy.folder, "release", "lossy.recipe.toml", "lossy.parquet")
    assert said.returncode == 3
    command = [line for line in said.stderr.splitlines() if re.match("(red|amber) ", line)]
    assert [each.replace(",", "", 1) for each in reasons(tried)] == command
    for part in ("check", "sign"):
        page = lossy.page(f"/data/{part}")
        assert reasons(page) == reasons(tried)
        assert NOW not in page
        assert BUTTON not in page


def test_the_quick_release_of_protect_is_tried_too(studio):
    studio.choose("t", "0.5")
    studio.choose("k", 210)
    studio.page("/data/preview?run=yes")
    page = studio.page("/data/attacks")
    assert NOW in page
    assert f"{BARE}" in page
    tried = studio.page("/data/remedies")
    assert "Leaving out age lifts it: " in tried
    assert reasons(studio.page("/data/attacks")) == reasons(tried)
    audited = studio.page("/data/check?run=yes")  # another release, and another verdict
    assert NOW in audited
    assert "lifts it" not in audited


def test_nothing_is_tried_where_no_trial_says_what_lifts_a_reason(studio):
    studio.choose("t", "0.5")
    studio.choose("k", 5)
    studio.choose("read", False, ["age"])
    page = studio.page("/data/check?run=yes")
    assert "amber, roles:" in " ".join(reasons(page))
    assert NOW not in page
    assert BUTTON not in page
    assert reasons(studio.page("/data/remedies")) == reasons(page)
    studio.choose("read", True, ["age"])


def test_a_release_that_is_gone_is_made_again_on_a_button(lossy):
    lossy.choose("k", 7)
    lossy.page("/data/preview?run=yes")
    lossy.choose("k", 200)
    page = lossy.page("/data/check")
    assert NOW not in page
    assert BUTTON in page
    assert "Leaving out height lifts it: " in lossy.page("/data/remedies?run=yes")
    assert 'role="alert"' not in lossy.page("/data/rows?table=released&confirmed=yes")


def test_another_environment_is_tried_again(lossy):
    lossy.page("/data/remedies")
    lossy.choose("environment", "public")
    assert NOW in lossy.page("/data/check")
    lossy.choose("environment", "contract")
    lossy.page("/data/remedies")
    assert NOW not in lossy.page("/data/check")


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A studio on many rows, whose trials take a while, after the check of a release."""
    folder = tmp_path_factory.mktemp("many")
    duckdb.connect().execute(f"COPY ({MANY}) TO '{folder / 'many.parquet'}'")
    with running(folder, "many.parquet") as found:
        found.enter().page("/data/roles")
        found.choose("role", "quasi", ["a", "b", "c", "d"])
        found.choose("role", "sensitive", ["illness"])
        found.choose("k", 40)
        assert NOW in found.page("/data/check?run=yes")
        yield found


def trying(studio, then):
    """The answer to trials, of which the progress is shown, and what happens in their midst."""
    answers = []
    asking = threading.Thread(target=lambda: answers.append(studio.page("/data/remedies?run=yes")))
    asking.start()
    step = {}

    def begun():
        step.update(json.loads(studio.page("/data/progress")))
        return str(step.get("note")).startswith("trying what lifts ")

    until(begun)
    assert step["call"] == "remedies"
    assert 0 < step["done"] <= step["total"]
    then(step)
    asking.join()
    return answers[0]


def test_trials_that_are_stopped_leave_the_verdict_as_it_was(many):
    before = reasons(many.page("/data/check"))
    page = trying(many, lambda step: many.page("/stop", {"number": step["number"]}))
    assert reasons(page) == before
    assert any(each.endswith(BARE) for each in before)
    assert "Stopped. Nothing was released." in page
    assert BUTTON in page
    assert NOW in many.page("/data/check")  # the release is still there


def test_trials_stop_at_another_choice_which_does_not_wait_for_them(many):
    many.choose("k", 40)
    started = time.monotonic()
    page = trying(many, lambda step: many.choose("k", 41))
    assert time.monotonic() - started < 30
    assert "lifts it" not in page
    assert json.loads(many.page("/data/progress")) == {}
    many.choose("k", 40)
    assert reasons(many.page("/data/check"))
    assert "lifts it" not in many.page("/data/check")


def test_a_kept_column_that_makes_rows_unique_is_named(tmp_path):
    sql = PEOPLE.replace("i * 37 % 101 AS cost", "i AS number, i % 3 AS ward, i % 101 AS cost")
    duckdb.connect().execute(f"COPY ({sql}) TO '{tmp_path / 'people.parquet'}'")
    with running(tmp_path, "people.parquet") as studio:
        studio.enter().page("/data/roles")
        for role, columns in {**ROLES, "keep": ["number", "ward"]}.items():
            studio.choose("role", role, columns)
        page = studio.page("/data/check?run=yes")
        assert REMEDIES["identifying_combinations"] in page
        assert NOW in page
        tried = studio.page("/data/remedies")
    assert "Leaving out number lifts it: 0% of the rows are then unique." in tried


@pytest.fixture(scope="module")
def uneven(tmp_path_factory):
    """A folder with a table of which t = 0.5 discloses too much, and the first recipe's t."""
    folder = tmp_path_factory.mktemp("uneven")
    duckdb.connect().execute(f"COPY ({UNEVEN}) TO '{folder / 'people.parquet'}'")
    done = anon(folder, "roles", "people.parquet", "--recipe", "r.toml")
    t = re.search(r"t = ([\d.]+), because (with t = 0.5, .*)", done.stdout)
    return folder, t[1], t[2]


def chosen_t(page):
    return re.search(r'<select id="t".*?<option selected>([^<]+)<', page, re.DOTALL)[1]


@pytest.mark.parametrize("part", ["controls", "check?run=yes"])
def test_the_first_t_is_that_of_the_first_recipe(uneven, part):
    folder, t, why = uneven
    with running(folder, "people.parquet") as studio:
        studio.enter().page("/data/roles")
        page = studio.page(f"/data/{part}")
        assert 'role="alert"' not in page
        page = studio.page("/data/controls")
        assert chosen_t(page) == t
        assert f"t = {t} was chosen, because {why}." in page
        studio.choose("t", "0.4")
        page = studio.page("/data/controls")
        assert chosen_t(page) == "0.4"
        assert "was chosen, because" not in page


def test_a_parameter_that_somebody_has_chosen_is_not_tried(uneven):
    folder, t, _ = uneven
    with running(folder, "people.parquet") as studio:
        studio.enter().page("/data/roles")
        studio.choose("k", 6)
        page = studio.page("/data/controls")
        assert chosen_t(page) == "0.5" != t
        assert "was chosen, because" not in page


def test_l_and_t_are_required_of_columns_that_somebody_calls_sensitive(people):
    with running(people, "people.parquet") as studio:
        studio.enter().page("/data/roles")
        studio.choose("role", "keep", ["illness", "cost"])
        studio.choose("role", "quasi", ["age", "height"])
        studio.choose("role", "sensitive", ["illness"])
        page = studio.page("/data/controls")
        assert chosen_t(page) == "0.5"
        assert 'name="l" min="1" step="any" value="2"' in page
