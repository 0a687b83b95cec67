"""The environment with dbt that the tests of this folder share."""

import pytest

from tests.apps.dbt import environment as dbt_environment


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return dbt_environment.shared_folder(tmp_path_factory)


@pytest.fixture(scope="module")
def environment(folder):
    return dbt_environment.of_this_run(folder)
