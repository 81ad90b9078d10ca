"""Fixtures of the tests of pages."""

import pytest

from views.session import present_plan


@pytest.fixture
def shown_options(monkeypatch):
    """The options that the page works out, in their order; the last are those on screen."""
    seen, present = [], present_plan.present

    def noted(catalogs):
        result = present(catalogs)
        seen.append(result.options)
        return result

    monkeypatch.setattr(present_plan, "present", noted)
    return seen
