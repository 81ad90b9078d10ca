"""AWS's files as they arrive: renamed, in another currency, with lines twice, with Local Zones, cut
off, in small pieces.
"""

import io
import json

import pytest

from refresh import offer_stream
from refresh.__main__ import main
from refresh.answers import Answers, RefreshError, Scope
from refresh.columns import renamed_columns
from refresh.offer_files import fetch
from refresh.public import read_offers
from tests import refresh_answers
from tests.refresh.test_refresh_plans import PLANS, with_plans
from tests.refresh.test_refresh_public import GR6, OFFER, NoCredentials, public_files
from tests.refresh_answers import RECORDED, TODAY, contents

folder = refresh_answers.folder  # a fixture
OFFERS = json.loads((RECORDED / "small_offers.json").read_text("utf-8"))
SCOPE = Scope(("us-east-1",), None, frozenset(["gr6.4xlarge", "gr6.8xlarge", "g5.xlarge"]), {})


def sent(text, announced=None):
    answer = io.BytesIO(text)
    answer.headers = {"Content-Length": str(len(text) if announced is None else announced)}
    return answer


def read(text, announced=None):
    answers = Answers()
    read_offers("us-east-1", SCOPE, answers, lambda _url, **_: sent(text, announced))
    return {market: prices for market, prices in answers.prices.items() if prices}


WHOLE = read(OFFER)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            b'"PricePerUnit"',
            b'"Price Per Unit"',
            "PricePerUnit is missing (perhaps now Price Per Unit)",
        ),
        (
            b'"Pre Installed S/W"',
            b'"Pre-Installed Software"',
            "Pre Installed S/W is missing (perhaps now Pre-Installed Software)",
        ),
        (b'"Tenancy"', b'"Hosting Kind"', "Tenancy is missing"),
        (
            b'"MarketOption"',
            b'"Market Option"',
            "MarketOption is missing (perhaps now Market Option)",
        ),
        (
            b'"Location Type"',
            b'"LocationType"',
            "Location Type is missing (perhaps now LocationType)",
        ),
        (b'"SKU"', b'"Sku"', ""),
    ],
)
def test_a_renamed_column_is_named(old, new, sentence):
    """A column that nobody reads may be renamed; of those that are read every one is needed."""
    if not sentence:
        assert read(OFFER.replace(old, new)) == WHOLE
        return
    with pytest.raises(RefreshError, match="the offer file of us-east-1") as raised:
        read(OFFER.replace(old, new))
    assert sentence in str(raised.value)


def test_several_renamed_columns_are_named_together():
    assert renamed_columns(
        ("Unit", "Currency", "Location"), ("Unit", "Currency Code", "Region")
    ) == ("Currency is missing (perhaps now Currency Code), Location is missing")


@pytest.mark.parametrize("cut", [0.2, 0.5, 0.9, 0.999])
def test_a_file_cut_in_the_middle_is_refused(cut):
    text = OFFER[: int(cut * len(OFFER))]
    with pytest.raises((RefreshError, ValueError)):
        read(text, announced=len(OFFER))


def test_lines_that_come_twice_count_once():
    lines = OFFER.splitlines(keepends=True)
    head = next(place for place, line in enumerate(lines) if line.startswith(b'"SKU"')) + 1
    assert read(b"".join([*lines, *lines[head:]])) == WHOLE


def test_another_currency_is_said():
    with pytest.raises(RefreshError, match="has prices in CNY, not in USD"):
        read(OFFER.replace(b'"USD"', b'"CNY"'))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"US East (N. Virginia)","AWS Region"', b'"US East (Atlanta)","AWS Local Zone"'),
        (b'"NA","us-east-1"', b'"NA","us-east-1-atl-2"'),
        (
            b'"US East (N. Virginia)","AWS Region"',
            b'"US East (Verizon) - Atlanta","AWS Wavelength Zone"',
        ),
    ],
)
def test_a_local_zone_is_never_its_region(old, new):
    """Its rows come first or last, dearer or cheaper: the region keeps its own."""
    lines = OFFER.splitlines(keepends=True)
    head = next(place for place, line in enumerate(lines) if line.startswith(b'"SKU"')) + 1
    for usd in (b"9.1", b"0.1"):
        local = [line.replace(old, new).replace(b"1.6000000000", usd) for line in lines[head:]]
        assert any(usd in line for line in local)
        assert read(b"".join([*lines[:head], *local, *lines[head:]])) == WHOLE
        assert read(b"".join([*lines, *local])) == WHOLE
    assert read(b"".join([*lines[:head], *local])) == {}


@pytest.mark.parametrize(
    "changed",
    [
        OFFER.replace(b'"Currency"', b'"Money"'),
        OFFER.replace(b'"USD"', b'"CNY"'),
        OFFER[: len(OFFER) // 2],
    ],
    ids=["renamed", "currency", "cut"],
)
def test_nothing_is_written_of_a_file_that_is_wrong(folder, capsys, changed):
    before = contents(folder)
    arguments = [*GR6, "--folder", str(folder)]
    opened = lambda url, **_: public_files(url, offer=changed)  # noqa: E731
    assert main(arguments, session=NoCredentials(), open_url=opened, today=TODAY) == 2
    assert "the catalogs are as they were" in capsys.readouterr().err.lower()
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("old", "new"), [(b'"USD"', b'"EUR"'), (b'"DiscountedRate"', b'"Discounted Rate"')]
)
def test_plans_of_a_wrong_file_stay_as_they_were(folder, capsys, old, new):
    changed = PLANS.replace(old, new)
    arguments = [*GR6, "--folder", str(folder)]
    opened = lambda url, **_: with_plans(url, changed, len(changed))  # noqa: E731
    assert main(arguments, session=NoCredentials(), open_url=opened, today=TODAY) == 0
    note = capsys.readouterr().out
    assert "not in USD" in note or "DiscountedRate is missing (perhaps now Discounted Rate)" in note


class Drip(io.BytesIO):
    """A connection that gives few bytes at a time."""

    def read(self, size=-1):
        return super().read(min(size, 7) if size > 0 else size)


@pytest.mark.parametrize("service", OFFERS)
def test_a_json_file_is_the_same_in_pieces_of_any_size(service):
    """Every product of a file that is streamed is that of the file read at once."""
    text = json.dumps(OFFERS[service], ensure_ascii=False, indent=1).encode()
    terms = OFFERS[service]["terms"]["OnDemand"]
    expected = {
        (
            sku,
            max(
                float(dimension["pricePerUnit"]["USD"])
                for term in terms[sku].values()
                for dimension in term["priceDimensions"].values()
            ),
        )
        for sku in OFFERS[service]["products"]
    }
    for file in (io.BytesIO(text), Drip(text)):
        skus = iter(OFFERS[service]["products"])
        streamed = {
            (sku, usd)
            for sku, _, usd, _ in offer_stream.prices(file, lambda _, skus=skus: next(skus))
        }
        assert streamed == expected


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{",
        b'{"products": {"A": ',
        b'{"terms": {}, "products": {}}',
        b'{"products": {"A": {]}}',
    ],
)
def test_what_is_no_offer_file_is_an_error(text):
    with pytest.raises(offer_stream.OfferError):
        list(offer_stream.prices(io.BytesIO(text), dict))


def test_a_small_file_says_what_was_renamed_and_which_currency_it_has():
    def notes(old, new):
        text = json.dumps(OFFERS["AmazonSageMaker"]).replace(old, new).encode()
        answers = Answers()
        files = {"AmazonSageMaker": text}
        fetch(
            "us-east-1",
            SCOPE,
            answers,
            lambda url, **_: io.BytesIO(files.get(url.split("/")[6], b"")),
        )
        return next(note for note in answers.notes if "AmazonSageMaker" in note)

    assert "component is missing (perhaps now componentName)" in notes(
        '"component"', '"componentName"'
    )
    assert "it has prices in CNY, not in USD" in notes('"USD"', '"CNY"')
