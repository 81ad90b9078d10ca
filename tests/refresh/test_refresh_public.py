"""The refresh without credentials: offer files and Spot Advisor as recorded; and how prices merge
and are written.
"""

import io
import json
from copy import deepcopy
from urllib.error import URLError

import pytest

from calc.catalogs.load import FOLDER
from calc.catalogs.rooms import ROOM_OF
from refresh.__main__ import main
from refresh.answers import Answers, Scope, reserved_prices
from refresh.merge import merge
from refresh.write import NAMES, read_documents, write_catalogs, yaml_text
from tests import refresh_answers
from tests.refresh_answers import ANSWERS, RECORDED, TODAY, contents, price

folder = refresh_answers.folder  # a fixture
OFFER = (RECORDED / "offer_us_east_1.csv").read_bytes()


class NoCredentials:
    def get_credentials(self):
        return None


def public_files(url, offer=OFFER, **_):
    answer = io.BytesIO(json.dumps(PUBLIC_ADVICE).encode() if "advisor" in url else offer)
    answer.headers = {"Content-Length": str(len(OFFER))}
    return answer


PUBLIC_ADVICE = deepcopy(ANSWERS["spot_advisor"])
PUBLIC_ADVICE["spot_advisor"]["us-east-1"]["Linux"] = {
    "gr6.4xlarge": {"s": 60, "r": 1},
    "gr6.8xlarge": {"s": -5, "r": 0},
}
GR6 = ["--region", "us-east-1", "--family", "gr6"]


def test_without_credentials_the_public_files_are_read(folder, capsys):
    code = main(
        [*GR6, "--folder", str(folder)], session=NoCredentials(), open_url=public_files, today=TODAY
    )
    output = capsys.readouterr()
    assert code == 0
    assert "no AWS credentials were found" in output.err
    assert "gr6.16xlarge is sold and new" in output.out
    small, large = price(folder, "gr6.4xlarge"), price(folder, "gr6.8xlarge")
    assert (small["on_demand_usd_per_hour"], small["on_demand_basis"]) == (1.6, "published")
    assert (small["spot_usd_per_hour"], small["spot_basis"], small["spot_as_of"]) == (
        0.64,
        "estimated",
        TODAY,
    )
    assert (
        small["reserved_1y_no_upfront_usd_per_hour"],
        small["reserved_1y_partial_upfront_usd_per_hour"],
    ) == (1.0, 0.9)
    assert (small["commit_1y_usd_per_hour"], small["commit_3y_usd_per_hour"]) == (0.9, 0.5)
    assert small["commit_3y_kind"] == "reserved instance, standard, all upfront"
    assert (large["on_demand_usd_per_hour"], large["spot_as_of"]) == (2.5, "2025-06-28")
    assert (small["interruption_band"], large["interruption_band"]) == ("5-10%", "<5%")


def unreachable(_url, **_):
    raise URLError("no route")


def broken_off(url, **_):
    return public_files(url, offer=OFFER[:-200])


def without_advisor(url, **_):
    return unreachable(url) if "advisor" in url else public_files(url)


@pytest.mark.parametrize("open_url", [unreachable, broken_off, without_advisor])
def test_public_files_that_fail_leave_everything_as_it_was(folder, capsys, open_url):
    before = contents(folder)
    assert main([*GR6, "--public", "--folder", str(folder)], open_url=open_url, today=TODAY) == 2
    assert "run it again" in capsys.readouterr().err
    assert contents(folder) == before
    assert not list(folder.parent.glob(".catalogs-*"))


def test_a_file_that_does_not_open_is_tried_again(folder):
    left = {"offers": 2, "advisor": 1}

    def faltering(url, **_):
        name = next((name for name in left if name in url), "")
        if left.get(name, 0):
            left[name] -= 1
            raise URLError("reset")
        return public_files(url)

    assert main([*GR6, "--public", "--folder", str(folder)], open_url=faltering, today=TODAY) == 0
    assert set(left.values()) == {0}


def test_upfront_is_spread_a_young_spot_price_stays_and_unchanged_catalogs_keep_every_byte(folder):
    documents, answers = read_documents(FOLDER), Answers()
    scope = Scope(("us-east-1",), None, frozenset(documents["instances"]["instances"]), {})
    answers.put(
        "spot", "g5.xlarge", "us-east-1", "spot-advisor", usd_per_hour=0.1, basis="estimated"
    )
    rows = [
        merge(documents, answers, scope, day).documents["prices"]
        for day in ("2026-05-01", "2026-11-21")
    ]
    assert [row["prices"]["g5.xlarge"]["us-east-1"]["spot"]["basis"] for row in rows] == [
        "observed",
        "estimated",
    ]
    terms = [
        ("1yr", "standard", "All Upfront", [("Hrs", 0.0), ("Quantity", 8760.0)]),
        ("5yr", "standard", "No Upfront", []),
    ]
    assert reserved_prices(terms) == {
        "reserved_1y_all_upfront": {"usd_per_hour": 1.0, "basis": "published"}
    }
    before, documents = contents(folder), read_documents(folder)
    assert all(
        yaml_text(name, documents[name]).encode() == before[f"{ROOM_OF[name]}/{name}.yaml"]
        for name in NAMES
    )
    write_catalogs(folder, documents)
    assert contents(folder) == before
