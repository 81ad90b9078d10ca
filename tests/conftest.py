"""What all tests share: one reading of the catalogs, and the last word of a run, what moved against
the recorded grid.
"""

import gc
import os
import tempfile
from collections import Counter

import browser as in_browser
import examples
import pytest

# A cache of this run's own, which its workers and commands share.
if "PYTEST_XDIST_WORKER" not in os.environ:
    CACHE = tempfile.TemporaryDirectory(prefix="headroom-")
    os.environ["XDG_CACHE_HOME"] = CACHE.name
    os.environ["HEADROOM_CATALOGS"] = f"{CACHE.name}/catalogs"  # no models that were simulated here
    os.environ["HEADROOM_SHELF"] = f"{CACHE.name}/shelf.sqlite3"  # and no shelf that people use

address, browser = in_browser.address, in_browser.browser  # fixtures


@pytest.fixture(scope="session")
def catalogs():
    return examples.catalogs()


@pytest.fixture
def read_once(monkeypatch):
    """The command takes the catalogs that the tests of this process have read."""
    monkeypatch.setattr("calc.__main__.load_catalogs", examples.catalogs)


def leave_out_samples(config, items):
    """Keep one case in n of a test marked sample(n), but all of them in `make bench`."""
    if examples.TIMES > 1:
        return
    cases_seen = Counter()
    left_out = []
    for item in items:
        sample = item.get_closest_marker("sample")
        if sample is None:
            continue
        test = (item.path, item.originalname)
        if cases_seen[test] % sample.args[0]:
            left_out.append(item)
        cases_seen[test] += 1
    config.hook.pytest_deselected(items=left_out)
    left_out_ids = {item.nodeid for item in left_out}
    items[:] = [item for item in items if item.nodeid not in left_out_ids]


def pytest_collection_modifyitems(config, items):
    """The slowest begin first: files with a browser, which mostly waits, then those of pages.

    A file runs in one process (--dist loadfile), which works out once what its tests share.
    """
    leave_out_samples(config, items)
    browser_files = {item.path for item in items if "browser" in item.fixturenames}
    items.sort(key=lambda item: (item.path not in browser_files, item.path.parent.name != "views"))


def pytest_collection_finish():
    """What is imported stays: garbage is looked for seldom, and among what the tests make, which is
    a fifth of their time otherwise.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def pytest_terminal_summary(terminalreporter):
    """Print what test_grid recorded, in whichever process it ran."""
    reports = [
        report
        for outcome in ("passed", "failed")
        for report in terminalreporter.getreports(outcome)
    ]
    for line in (
        value for report in reports for name, value in report.user_properties if name == "moved"
    ):
        terminalreporter.write_line(line)
