"""What a refresh doubts beyond a price that leaps, and what it leaves behind."""

import signal
import subprocess
import sys

import numpy as np
import pytest

from calc.catalogs.load import FOLDER, load_catalogs
from calc.catalogs.rooms import path_of
from tests import refresh_answers
from tests.refresh_answers import contents, g5_prices, price, product, session, spot
from tests.test_refresh import refresh

pytestmark = pytest.mark.long
folder = refresh_answers.folder  # a fixture
pytest.importorskip("botocore", reason="the refresh needs pip install -r requirements/prices.txt")


@pytest.fixture
def without_one(folder):
    """The catalogs without any price of one type, which so is new to the next refresh."""
    path = path_of("prices", folder)
    before, rest = path.read_text("utf-8").split("  g5.2xlarge:\n", 1)
    path.write_text(before + rest[rest.index("  g5.48xlarge:\n") :], "utf-8")
    return folder


@pytest.mark.parametrize("usd", [99999, 0.0001])
def test_a_new_price_far_from_its_family_is_refused(without_one, capsys, usd):
    before = contents(without_one)
    assert refresh(without_one, session(g5_prices(_2xlarge=usd))) == 1
    assert "g5.2xlarge us-east-1 is new at" in capsys.readouterr().err
    assert contents(without_one) == before


def test_a_new_price_near_its_family_comes_in(without_one):
    assert refresh(without_one, session(g5_prices(_2xlarge=1.212))) == 0
    assert price(without_one, "g5.2xlarge")["on_demand_usd_per_hour"] == 1.212


def test_what_is_not_finite_or_above_on_demand_or_moves_together_is_doubted(folder, capsys):
    before = price(folder, "g5.xlarge")["on_demand_usd_per_hour"]
    assert refresh(folder, session([*g5_prices(xlarge=None), product("g5.xlarge", np.inf)]), "--accept") == 0
    assert "which is no price" in capsys.readouterr().err
    assert price(folder, "g5.xlarge")["on_demand_usd_per_hour"] == before
    assert refresh(folder, session(g5_prices(), [*spot(["g5.xlarge"], 1.25)])) == 1
    assert "spot g5.xlarge us-east-1 asks 1.25, more than on demand (1.006)" in capsys.readouterr().err
    today = {f"_{size}xlarge": price(folder, f"g5.{size}xlarge")["on_demand_usd_per_hour"] for size in ("", 2, 4, 8, 12, 16, 24, 48)}
    raised = {name: 2.5 * usd for name, usd in today.items()}
    assert refresh(folder, session(g5_prices(**raised))) == 1
    assert "the family g5 in us-east-1 moves together by +150%" in capsys.readouterr().err
    fallen = {name: 0.8 * usd for name, usd in today.items()}
    assert refresh(folder, session(g5_prices(**fallen))) == 0


def test_local_zones_are_not_of_the_region(folder):
    local = [item | {"AvailabilityZoneId": "use1-atl2-az1"} for item in spot(["g5.xlarge"], 0.20)]
    named = [
        {key: value for key, value in item.items() if key != "AvailabilityZoneId"} | {"AvailabilityZone": "us-east-1-atl-2a"}
        for item in local
    ]
    kept = spot(["g5.xlarge", "g5.2xlarge", "g5.4xlarge", "g5.12xlarge", "g5.16xlarge", "g5.48xlarge"], 0.44)
    assert refresh(folder, session(g5_prices(), [*kept, *local, *named]), "--accept") == 0
    row = price(folder, "g5.xlarge")
    assert (row["spot_usd_per_hour"], row["spot_low_usd_per_hour"], row["spot_zones"]) == (0.44, 0.44, 1)


def test_what_a_killed_refresh_left_is_swept_by_the_next(folder):
    ended = subprocess.Popen(["true"])
    ended.wait()
    left = folder.parent / f".catalogs-{ended.pid}-abc"
    left.mkdir()
    (left / "prices.yaml").write_text("half", "utf-8")
    living = folder.parent / f".catalogs-{1}-abc"  # a process that lives
    living.mkdir()
    assert refresh(folder, session(g5_prices(_xlarge=1.1))) == 0
    assert sorted(path.name for path in folder.parent.glob(".catalogs-*")) == [living.name]


KILLED = """
import os, signal, sys
from pathlib import Path
from refresh.write import read_documents, write_catalogs
folder, left, replace = Path(sys.argv[1]), [int(sys.argv[2])], os.replace
def killing(source, target):
    left[0] -= folder in Path(target).parents
    if left[0] < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    replace(source, target)
os.replace = killing
documents = read_documents(folder)
documents["prices"]["prices"]["g5.xlarge"]["us-east-1"]["on_demand"]["usd_per_hour"] = 1.1
row = {"instance": "g5.xlarge", "region": "us-east-1", "market": "on_demand", "usd_per_hour": 1.1, "as_of": "2026-11-21", "source": "here"}
write_catalogs(folder, documents, [row], "2026-11-21")
"""


@pytest.mark.parametrize("replaced", [0, 1, 5])
def test_a_refresh_killed_between_replacements_is_healed_by_the_next(folder, replaced):
    ended = subprocess.run([sys.executable, "-c", KILLED, str(folder), str(replaced)], cwd=FOLDER.parent, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert price(folder, "g5.xlarge")["on_demand_usd_per_hour"] == 1.006  # the prices come last: what loads is whole
    assert len(list(folder.parent.glob(".catalogs-*"))) == 1
    assert refresh(folder, session(g5_prices(_xlarge=1.1))) == 0
    assert price(folder, "g5.xlarge")["on_demand_usd_per_hour"] == 1.1
    assert not list(folder.parent.glob(".catalogs-*"))
    kept = load_catalogs(folder).price_history.query("instance == 'g5.xlarge' and region == 'us-east-1' and market == 'on_demand'")
    assert kept["usd_per_hour"].tolist()[-1] == 1.1
