"""What all tests share: one reading of the catalogs."""

import examples
import pytest


@pytest.fixture(scope="session")
def catalogs():
    return examples.catalogs()
