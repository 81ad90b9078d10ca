"""`python -m refresh` against botocore's Stubber: what it writes, what it doubts, and that a
failure writes nothing.
"""

import os
import re
import signal
import subprocess
import sys
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from examples import recorded

from calc.catalogs.load import FOLDER, load_catalogs
from calc.catalogs.rooms import path_of
from refresh.__main__ import main
from refresh.answers import Answers, Scope

pytest.importorskip("botocore", reason="the refresh needs pip install -r requirements/prices.txt")
from botocore.stub import ANY

from tests import refresh_answers
from tests.refresh_answers import (
    ANSWERS,
    TODAY,
    Session,
    advice,
    contents,
    g5_prices,
    price,
    product,
    session,
    spot,
)

pytestmark = pytest.mark.long
folder = refresh_answers.folder  # a fixture
G5 = ["--region", "us-east-1", "--family", "g5"]


def refresh(folder, session, *arguments, open_url=advice):
    return main(
        [*G5, "--folder", str(folder), *arguments], session=session, open_url=open_url, today=TODAY
    )


def test_prices_come_in_with_date_and_source(folder, capsys):
    card = deepcopy(ANSWERS["describe_instance_types"]["InstanceTypes"][0])
    card["GpuInfo"]["Gpus"][0] |= {"Count": 16, "LogicalGpuCount": 16}
    card |= {"InstanceType": "g5.96xlarge", "VCpuInfo": {"DefaultVCpus": 384}}
    others = [
        *spot(["g5.2xlarge", "g5.4xlarge", "g5.12xlarge", "g5.16xlarge", "g5.48xlarge"]),
        *spot(["g5.xlarge"], 0.46),
    ]
    older = [
        item | {"Timestamp": datetime(2026, 11, 1, tzinfo=UTC)} for item in spot(["g5.xlarge"], 99)
    ]
    second = [item | {"AvailabilityZoneId": "use1-az2"} for item in spot(["g5.xlarge"], 0.40)]
    listed = [
        *g5_prices(_2xlarge=1.25),
        product("g5.96xlarge", 33),
        product("p5.48xlarge", 0, "capacity_block"),
    ]
    listed[0] = product("g5.xlarge", 1.006, "with_reserved_terms")
    listed = [
        text for text in listed if '"g5.xlarge"' not in text or "Reserved" in text
    ] + g5_prices()[:1]
    code = refresh(folder, session(listed, [*older, *others, *second], [card]))
    printed = capsys.readouterr()
    output = printed.out
    assert code == 0, printed.err
    assert "on demand g5.2xlarge us-east-1: 1.212 -> 1.25 (+3.1%)" in output
    assert "new instance type g5.96xlarge: 16 x a10g" in output
    new = price(folder, "g5.2xlarge")
    assert (new["on_demand_usd_per_hour"], new["on_demand_as_of"]) == (1.25, TODAY)
    assert new["on_demand_source"].startswith("AWS Price List Query API")
    zones = price(folder, "g5.xlarge")
    assert [zones[f"spot_{name}usd_per_hour"] for name in ("", "low_", "high_")] == [
        0.43,
        0.40,
        0.46,
    ]
    assert (zones["spot_zones"], zones["spot_basis"], zones["interruption_as_of"]) == (
        2,
        "observed",
        TODAY,
    )
    assert zones["reserved_1y_no_upfront_usd_per_hour"] == 0.634
    assert zones["reserved_3y_all_upfront_usd_per_hour"] == pytest.approx(
        10200 / (3 * 8760), abs=1e-6
    )
    catalogs = load_catalogs(folder)
    assert catalogs.instances.loc[
        "g5.96xlarge", ["gpus", "vcpus", "gpu_memory_bytes"]
    ].tolist() == [16, 384, 23028 * 2**20]
    assert price(folder, "g5.96xlarge")["on_demand_usd_per_hour"] == 33
    kept = catalogs.price_history.query("instance == 'g5.2xlarge' and market == 'on_demand'")
    assert kept["usd_per_hour"].tolist() == [1.212, 1.25]
    assert price(folder, "g5.2xlarge", "eu-west-1").equals(price(FOLDER, "g5.2xlarge", "eu-west-1"))


def test_a_dry_run_writes_nothing(folder, capsys):
    before = contents(folder)
    assert refresh(folder, session(g5_prices(_xlarge=1.1)), "--dry-run") == 0
    assert contents(folder) == before
    assert "1.006 -> 1.1" in capsys.readouterr().out


def failing(*codes, operation="describe_spot_price_history"):
    """On demand replies in full; then spot fails."""
    broken = session(g5_prices(_xlarge=1.1))
    broken.stubs["ec2", "us-east-1"]._queue.pop()
    for code in codes:
        broken.expect_error("ec2", operation, code)
    return broken


@pytest.mark.parametrize(("codes", "sentence"), recorded("cases/refresh.json")["failures"])
def test_a_broken_half_leaves_everything_as_it_was(folder, capsys, codes, sentence):
    before = contents(folder)
    assert refresh(folder, failing(*codes)) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert "as they were" in error
    assert contents(folder) == before


def test_an_answer_in_another_form_or_empty_is_refused_and_nothing_is_written(folder, capsys):
    before = contents(folder)
    assert refresh(folder, session(["{}"])) == 2
    assert "an unknown form" in capsys.readouterr().err
    assert refresh(folder, session([], [])) == 1
    assert "family g5 vanishes" in capsys.readouterr().err
    assert contents(folder) == before


def accepted(error):
    """The arguments that a refusal names."""
    return [word for entry in re.findall(r"--accept (\S+)", error) for word in ("--accept", entry)]


def test_accept_takes_single_entries_and_leaves_the_other_doubts(folder, capsys):
    before, raised = contents(folder), g5_prices(_xlarge=1.6, _2xlarge=0.5)
    assert (
        refresh(
            folder,
            session(raised),
            "--accept",
            "on_demand/g5.xlarge/us-east-1",
            "--accept",
            "spot/g5.xlarge/us-east-1",
        )
        == 1
    )
    printed = capsys.readouterr()
    assert "g5.2xlarge us-east-1 goes from 1.212 to 0.5 (-59%)" in printed.err
    assert "g5.xlarge us-east-1 goes" not in printed.err
    assert "--accept spot/g5.xlarge/us-east-1 accepts nothing" in printed.out
    assert contents(folder) == before
    for everything in ("all", "on_demand", "*/g5.xlarge/us-east-1"):
        with pytest.raises(SystemExit):
            refresh(folder, session(raised), "--accept", everything)
        assert "is no single entry" in capsys.readouterr().err


@pytest.mark.parametrize(("changed", "doubt"), recorded("cases/refresh.json")["doubts"])
def test_what_looks_wrong_is_refused_until_accepted(folder, capsys, changed, doubt):
    before = contents(folder)
    assert refresh(folder, session(g5_prices(**changed))) == 1
    error = capsys.readouterr().err
    assert doubt in error
    assert contents(folder) == before
    assert refresh(folder, session(g5_prices(**changed)), *accepted(error)) == 0
    instance = "g5.48xlarge" if changed.get("_48xlarge") else "g5.xlarge"
    expected = next(iter(changed.values())) or np.nan
    assert np.isclose(price(folder, instance)["on_demand_usd_per_hour"], expected, equal_nan=True)


def test_another_gpu_count_is_doubted_and_a_card_that_is_not_held_named(folder, capsys):
    card = deepcopy(ANSWERS["describe_instance_types"]["InstanceTypes"][0])
    card["GpuInfo"]["Gpus"][0]["Count"] = 2
    assert refresh(folder, session(g5_prices(), types=[card])) == 1
    assert "instance g5.xlarge: gpus goes from 1 to 2" in capsys.readouterr().err
    card = deepcopy(ANSWERS["describe_instance_types"]["InstanceTypes"][0])
    card["GpuInfo"]["Gpus"][0] |= {"Name": "X99", "MemoryInfo": {"SizeInMiB": 999}}
    assert refresh(folder, session(g5_prices(), types=[card | {"InstanceType": "g5.new"}])) == 0
    assert (
        "g5.new carries NVIDIA X99 with 999 MiB, which gpus.yaml does not hold"
        in capsys.readouterr().out
    )


def test_a_failing_replacement_puts_the_old_files_back(folder, monkeypatch):
    before, replace, left = contents(folder), os.replace, [2]

    def breaking(source, target):
        # Other files, such as a cache, are replaced as ever.
        left[0] -= Path(target).is_relative_to(folder)
        if left[0] == 0:
            raise OSError("disk full")
        replace(source, target)

    monkeypatch.setattr("refresh.write.os.replace", breaking)
    assert refresh(folder, session(g5_prices(_xlarge=1.1))) == 2
    assert contents(folder) == before


def test_a_region_that_is_not_switched_on_keeps_its_spot_prices(folder, capsys):
    started = session(g5_prices())
    started.stubs["ec2", "us-east-1"]._queue.pop()
    empty = Session.expect(started, "pricing", "get_products", {"PriceList": []})
    arguments = ["--region", "eu-south-2", "--family", "p3", "--folder", str(folder)]
    assert main(arguments, session=empty, open_url=advice, today=TODAY) == 2
    assert "eu-south-2 is not switched on" in capsys.readouterr().out


def test_the_filters_leave_the_linux_price_alone():
    from refresh.aws import read_on_demand

    fields = {
        "regionCode": "us-east-1",
        "operatingSystem": "Linux",
        "preInstalledSw": "NA",
        "capacitystatus": "Used",
    }
    fields |= {"marketoption": "OnDemand", "tenancy": "Shared", "productFamily": "Compute Instance"}
    filters = [
        {"Type": "TERM_MATCH", "Field": name, "Value": value} for name, value in fields.items()
    ]
    expected = {
        "ServiceCode": "AmazonEC2",
        "FormatVersion": "aws_v1",
        "MaxResults": 100,
        "Filters": filters,
    }
    stubbed = Session().expect(
        "pricing", "get_products", {"PriceList": [product("g5.xlarge", 1.006)]}, expected
    )
    stubbed.expect("pricing", "get_products", {"PriceList": []}, {**expected, "Filters": ANY})
    answers, scope = Answers(), Scope(("us-east-1",), None, frozenset(["g5.xlarge"]), {})
    read_on_demand(
        stubbed.client("pricing", "us-east-1"), "us-east-1", {"g5.xlarge"}, scope, answers
    )
    assert answers.prices["on_demand"]["g5.xlarge", "us-east-1"]["usd_per_hour"] == 1.006
    assert answers.regions == {"us-east-1": "N. Virginia"}


def test_a_profile_that_does_not_exist_is_a_sentence(folder, capsys, monkeypatch):
    pytest.importorskip("boto3", reason="the refresh needs pip install -r requirements/prices.txt")
    monkeypatch.setenv("AWS_PROFILE", "no-such-profile")
    before = contents(folder)
    assert refresh(folder, None) == 2
    assert "correct them or use --public" in capsys.readouterr().err
    assert contents(folder) == before


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
    infinite = [*g5_prices(xlarge=None), product("g5.xlarge", np.inf)]
    assert refresh(folder, session(infinite)) == 1
    assert "which is not a price" in (error := capsys.readouterr().err)
    assert refresh(folder, session(infinite), *accepted(error)) == 0
    assert price(folder, "g5.xlarge")["on_demand_usd_per_hour"] == before
    assert refresh(folder, session(g5_prices(), [*spot(["g5.xlarge"], 1.25)])) == 1
    assert (
        "spot g5.xlarge us-east-1 asks 1.25, more than on demand (1.006)" in capsys.readouterr().err
    )
    today = {
        f"_{size}xlarge": price(folder, f"g5.{size}xlarge")["on_demand_usd_per_hour"]
        for size in ("", 2, 4, 8, 12, 16, 24, 48)
    }
    raised = {name: 2.5 * usd for name, usd in today.items()}
    assert refresh(folder, session(g5_prices(**raised))) == 1
    assert (
        "g5.xlarge us-east-1 goes from 1.006 to 2.515 (+150%), and no other price moves with it"
        in capsys.readouterr().err
    )
    fallen = {name: 0.8 * usd for name, usd in today.items()}
    assert refresh(folder, session(g5_prices(**fallen))) == 0


def test_local_zones_are_not_of_the_region(folder):
    local = [item | {"AvailabilityZoneId": "use1-atl2-az1"} for item in spot(["g5.xlarge"], 0.20)]
    named = [
        {key: value for key, value in item.items() if key != "AvailabilityZoneId"}
        | {"AvailabilityZone": "us-east-1-atl-2a"}
        for item in local
    ]
    kept = [
        *spot(["g5.xlarge"], 0.44),
        *spot(["g5.2xlarge", "g5.4xlarge", "g5.12xlarge", "g5.16xlarge", "g5.48xlarge"]),
    ]
    assert refresh(folder, session(g5_prices(), [*kept, *local, *named])) == 0
    row = price(folder, "g5.xlarge")
    assert (row["spot_usd_per_hour"], row["spot_low_usd_per_hour"], row["spot_zones"]) == (
        0.44,
        0.44,
        1,
    )


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
row = {"instance": "g5.xlarge", "region": "us-east-1", "market": "on_demand"}
row |= {"usd_per_hour": 1.1, "as_of": "2026-11-21", "source": "here"}
write_catalogs(folder, documents, [row], "2026-11-21")
"""


@pytest.mark.parametrize("replaced", [0, 1, 5])
def test_a_refresh_killed_between_replacements_is_healed_by_the_next(folder, replaced):
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, str(folder), str(replaced)], cwd=FOLDER.parent, check=False
    )
    assert ended.returncode == -signal.SIGKILL
    # The prices come last: what loads is whole.
    assert price(folder, "g5.xlarge")["on_demand_usd_per_hour"] == 1.006
    assert len(list(folder.parent.glob(".catalogs-*"))) == 1
    living = folder.parent / f".catalogs-{1}-abc"  # a process that lives
    living.mkdir()
    assert refresh(folder, session(g5_prices(_xlarge=1.1))) == 0
    assert price(folder, "g5.xlarge")["on_demand_usd_per_hour"] == 1.1
    assert list(folder.parent.glob(".catalogs-*")) == [living]
    kept = load_catalogs(folder).price_history.query(
        "instance == 'g5.xlarge' and region == 'us-east-1' and market == 'on_demand'"
    )
    assert kept["usd_per_hour"].tolist()[-1] == 1.1
