"""Odd manifests and recipes end in a sentence, whatever is in them, and never in a traceback."""

import pytest

from tests.apps.documents import BRACKETS, Office, odd, wrong

NAMES = ("safe.parquet.anon.json", "out.anon.json", "single.toml", "linked.toml")
TEXTS = 60  # of each kind; more by hand: python -m tests.apps.documents SECONDS
# those that once ended otherwise
HANDMADE = {
    "brackets": "[" * BRACKETS,
    "objects": '{"a":' * BRACKETS,
    "nested": '{"manifest": 1, "linked_manifest": 1, "a": ' + "[" * 500 + "]" * 500 + "}",
    "twice": '{"manifest": 1, "manifest": 1, "linked_manifest": 1}',
    "NaN": '{"manifest": 1, "linked_manifest": 1, "persons": NaN}',
    "infinite": '{"manifest": 1, "linked_manifest": 1, "persons": 1e999}',
    "digits": f'{{"manifest": 1, "linked_manifest": 1, "persons": {"9" * 5000}}}',
    "large": '{"manifest": 1, "linked_manifest": 1, "persons": 99999999999999999999}',
    "surrogate": '{"manifest": 1, "linked_manifest": 1, "root": "\\ud800"}',
    "NUL": '{"manifest": 1, "linked_manifest": 1, "root": "\\u0000"}',
    "list": '["linked_manifest"]',
    "text": '"linked_manifest"',
    "true": '{"manifest": true, "linked_manifest": true}',
    "nothing": "",
    "mark": "\ufeff{}",
}
TOML = {
    "brackets": "a = " + "[" * BRACKETS,
    "nested": "recipe = 1\na = " + "[" * 200 + "]" * 200,
    "tables": "recipe = 1\n" + f"[{'.'.join('a' * 3000)}]",
    "digits": f"recipe = {'9' * 5000}",
    "large": "recipe = 1\n[release]\nk = 99999999999999999999",
    "not finite": "recipe = 1\n[release]\nt = nan",
    "date": "recipe = 1979-05-27",
    "twice": "recipe = 1\nrecipe = 1",
    "list": "recipe = 1\nsource = [[1], [[2]]]",
    "nothing": "",
}


@pytest.fixture(scope="module")
def office(tmp_path_factory):
    return Office(tmp_path_factory.mktemp("office"))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.makes_functions
def test_mutations_end_in_a_sentence(office, name):
    for seed in range(TEXTS):
        text, call = odd(office, seed, name)
        assert wrong(office, name, text, call) is None, (seed, call)


@pytest.mark.makes_functions
@pytest.mark.parametrize("name", NAMES)
def test_odd_texts_end_in_a_sentence(office, name):
    texts = TOML if name.endswith("toml") else HANDMADE
    calls = {each[0]: each[4] for each in office.kinds}[name]
    for what, text in texts.items():
        for call in calls:
            assert wrong(office, name, text, call) is None, (what, call)
