"""Installed packages: exactly what the locks pin, which is what the requirements ask for; licenses
known; nothing is sent home.
"""

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCKED = ("agent", "cluster", "dev", "hub", "launch", "measure", "prices", "shelf", "validation")
LOCKS = {"run": "requirements.txt"} | {name: f"requirements/{name}.txt" for name in LOCKED}
PIN = re.compile(
    r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;]+)\s*(?:;\s*([^\\]+?))?\s*\\?$", re.MULTILINE
)


def pins(path):
    """Name -> version of a file of requirements; those of other systems and Pythons are left
    out.
    """
    matches = PIN.findall((ROOT / path).read_text("utf-8"))
    return {
        canonicalize_name(name): version
        for name, version, marker in matches
        if not marker or Marker(marker).evaluate()
    }


@pytest.mark.parametrize("name", LOCKS)
def test_every_requirement_is_locked_as_it_is_pinned_with_its_hashes(name):
    pinned, locked = pins(LOCKS[name]), pins(f"requirements/lock/{name}.txt")
    assert pinned
    assert pinned.items() <= locked.items()
    entries = re.split(
        r"\n(?=[A-Za-z0-9])", (ROOT / f"requirements/lock/{name}.txt").read_text("utf-8")
    )
    assert [entry.splitlines()[0] for entry in entries if "--hash=sha256:" not in entry] == []


def test_the_pytorch_of_simulations_is_the_locked_one():
    text = (ROOT / "requirements/lock/simulate-torch.txt").read_text("utf-8")
    assert len(set(re.findall(r"--hash=sha256:[0-9a-f]{64}\b", text))) == 12
    assert (
        pins("requirements/lock/simulate-torch.txt")["torch"]
        == pins("requirements/validation.txt")["torch"]
    )
    installs = [
        line for line in (ROOT / "Makefile").read_text("utf-8").splitlines() if "whl/cpu" in line
    ]
    assert len(installs) == 1
    assert "--require-hashes" in installs[0]


def test_what_is_installed_is_locked_its_license_listed_and_nothing_is_sent_home():
    installed = {
        canonicalize_name(package.metadata["Name"]): package.version
        for package in metadata.distributions()
    }
    locked = pins("requirements/lock/dev.txt")
    assert {name: installed.get(name) for name in locked} == locked
    listed = dict(
        re.findall(
            r"^\| ([a-z0-9.-]+) \| ([^|]+) \|$",
            (ROOT / "docs/licenses.md").read_text("utf-8"),
            re.MULTILINE,
        )
    )
    assert set(listed) == set(pins("requirements/lock/run.txt"))
    assert all(license.strip() for license in listed.values())
    options = tomllib.loads((ROOT / ".streamlit/config.toml").read_text("utf-8"))
    assert options["browser"]["gatherUsageStats"] is False
    assert options["server"]["address"] == "localhost"
