"""The environment with dbt that the tests of this folder share."""

import os
from pathlib import Path

import pytest

from tests.apps.dbt import environment as dbt_environment


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return dbt_environment.shared_folder(tmp_path_factory)


@pytest.fixture(scope="module")
def environment(folder):
    """The environment that ``ANON_TESTS_DBT`` names, as ``.ci/run`` makes it, or one made here."""
    if given := os.environ.get("ANON_TESTS_DBT"):
        return Path(given)
    return dbt_environment.made_once(folder / "dbt_environment", dbt_environment.install)
