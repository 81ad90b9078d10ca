"""Programs that some tests need beside Python."""

import os

import pytest


def missing(what, cure):
    """Skip on a machine without it; in continuous integration, which installs it, its absence is a failure."""
    if os.environ.get("CI"):
        pytest.fail(f"{what}, and CI must run this test: {cure}")
    pytest.skip(f"{what}: {cure}")
