"""`make prices REGIONS=all`: new regions come in, new types are announced; docs/prices.md names
every permission.
"""

import io
import json
import re
from pathlib import Path

import pytest

from calc.catalogs.load import load_catalogs
from refresh.__main__ import main
from refresh.regions import INDEX_URL, every_region
from refresh.shapes import shape_of
from tests import refresh_answers
from tests.refresh.test_refresh_files import sent
from tests.refresh.test_refresh_public import OFFER, NoCredentials, public_files
from tests.refresh_answers import ANSWERS, TODAY, contents, price

folder = refresh_answers.folder  # a fixture
ROOT = Path(__file__).parents[2]
LISTED = (
    "us-east-1",
    "us-west-2-lax-1",
    "mx-central-1",
    "us-gov-west-1",
    "cn-north-1",
    "eu-isoe-west-1",
)


def all_files(url, **_):
    if url == INDEX_URL:
        return io.BytesIO(
            json.dumps({"regions": {name: {"currentVersionUrl": "/x"} for name in LISTED}}).encode()
        )
    if "AmazonEC2" in url:
        region = re.search(r"current/([a-z0-9-]+)/", url)[1]
        name = b"Mexico (Central)" if region == "mx-central-1" else b"US East (N. Virginia)"
        return sent(
            OFFER.replace(b"us-east-1", region.encode()).replace(b"US East (N. Virginia)", name)
        )
    return (
        public_files(url)
        if "advisor" in url
        else io.BytesIO(b'{"products": {}, "terms": {}, "regions": []}')
    )


@pytest.mark.long
def test_all_regions_come_in_with_their_names(folder, capsys):
    arguments = ["--region", "all", "--family", "gr6", "--folder", str(folder)]
    assert main(arguments, session=NoCredentials(), open_url=all_files, today=TODAY) == 0, (
        capsys.readouterr().err
    )
    output = capsys.readouterr()
    assert load_catalogs(folder).regions.loc["mx-central-1", "name"] == "Central"
    assert price(folder, "gr6.4xlarge", "mx-central-1")["on_demand_usd_per_hour"] == 1.6
    assert "[2/2] us-east-1" in output.err
    assert "gr6.16xlarge is sold and new" in output.out
    assert "add it to instances.yaml (family, gpu, gpus" in output.out


def test_regions_that_have_price_lists_of_their_own_are_left_out():
    assert every_region(all_files) == ("mx-central-1", "us-east-1")


def test_a_list_of_regions_that_cannot_be_read_is_a_sentence(folder, capsys):
    before = contents(folder)
    broken = lambda url, **_: io.BytesIO(b"<html>") if url == INDEX_URL else all_files(url)  # noqa: E731
    assert (
        main(
            ["--region", "all", "--folder", str(folder)],
            session=NoCredentials(),
            open_url=broken,
            today=TODAY,
        )
        == 2
    )
    assert "The list of AWS's regions could not be read" in capsys.readouterr().err
    assert contents(folder) == before
    with pytest.raises(SystemExit):
        main(["--region", "everywhere"])


def test_regions_that_sell_gpus_are_known(catalogs):
    names = ("sa-east-1", "eu-west-3", "ap-south-2", "ap-northeast-3", "il-central-1")
    assert catalogs.regions.loc[list(names), "name"].tolist() == [
        "São Paulo",
        "Paris",
        "Hyderabad",
        "Osaka",
        "Tel Aviv",
    ]


def test_a_new_gpu_is_announced_with_what_is_missing():
    answer = json.loads(json.dumps(ANSWERS["describe_instance_types"]["InstanceTypes"][0]))
    answer["GpuInfo"]["Gpus"][0] |= {"Name": "X99", "MemoryInfo": {"SizeInMiB": 999}}
    entry, note = shape_of(answer, {})
    assert entry is None
    for missing in (
        "X99",
        "999 MiB",
        "gpus.yaml",
        "ec2_name",
        "ec2_memory_mib",
        "bandwidth_bytes_per_second",
        "compute_capability",
    ):
        assert missing in note


def test_the_page_names_every_permission():
    """Each call of the refresh, by botocore's own model of it, and no other."""
    pytest.importorskip(
        "botocore", reason="the refresh needs pip install -r requirements/prices.txt"
    )
    page = (ROOT / "docs" / "prices.md").read_text("utf-8")
    policy = json.loads(re.search(r"```json\n(.*?)```", page, re.DOTALL)[1])
    named = {action for statement in policy["Statement"] for action in statement["Action"]}
    code = "".join(path.read_text("utf-8") for path in (ROOT / "refresh").glob("*.py"))
    session, prefixes = refresh_answers.botocore_session(), {"service-quotas": "servicequotas"}
    used = set()
    for service in ("pricing", "ec2", "savingsplans", "service-quotas"):
        client = session.create_client(
            service, region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x"
        )
        operations = client.meta.method_to_api_mapping
        calls = {call for call in operations if re.search(rf"""(?:"{call}"|\.{call}\()""", code)}
        used |= {f"{prefixes.get(service, service)}:{operations[call]}" for call in calls}
    assert named == used
