"""A refresh that breaks off goes on from its finished regions; before it starts it says how much
there is to read.
"""

import io
from datetime import timedelta
from urllib.error import URLError

import pytest

from refresh.__main__ import main
from refresh.answers import Answers, Scope
from refresh.meter import Meter
from refresh.region_cache import FOLDER, RegionCache
from tests import refresh_answers
from tests.refresh.test_refresh_files import sent
from tests.refresh.test_refresh_public import OFFER, NoCredentials, public_files
from tests.refresh_answers import TODAY, contents, price

folder = refresh_answers.folder  # a fixture
REGIONS = ("us-east-1", "eu-west-1", "eu-south-2")
ARGUMENTS = [word for region in REGIONS for word in ("--region", region)]


class Wire:
    """Serves the offer file of every region until the connection is lost; `opened` are those that
    were read.
    """

    def __init__(self, lost_at=""):
        self.lost_at, self.opened = lost_at, []

    def __call__(self, url, timeout, **_):
        region = next((region for region in REGIONS if f"/{region}/" in url), "us-east-1")
        if region == self.lost_at:
            raise URLError("connection lost")
        if "AmazonEC2" in url:
            self.opened += [region] if timeout == 60 else []
            return sent(OFFER.replace(b"us-east-1", region.encode()))
        return public_files(url) if "advisor" in url else empty()


def empty():
    return io.BytesIO(b'{"products": {}, "terms": {}, "regions": []}')


def refresh(folder, wire, *arguments):
    options = [*ARGUMENTS, "--family", "gr6", "--folder", str(folder), *arguments]
    return main(options, session=NoCredentials(), open_url=wire, today=TODAY)


@pytest.mark.long
def test_finished_regions_survive_a_lost_connection(folder, capsys):
    before, lost = contents(folder), Wire("eu-south-2")
    assert refresh(folder, lost) == 2
    assert "What was read of 2 regions is kept for a day" in capsys.readouterr().err
    assert contents(folder) == before
    again = Wire()
    assert refresh(folder, again) == 0, capsys.readouterr().err
    assert set(again.opened) == {"eu-south-2"}
    assert "[1/3] us-east-1: as read before" in capsys.readouterr().err
    straight = folder.parent / "straight"
    refresh_answers.small_catalogs(straight / "catalogs")
    assert refresh(straight / "catalogs", Wire()) == 0
    assert contents(folder) == contents(straight / "catalogs")
    assert not (folder.parent / FOLDER).exists()
    assert price(folder, "gr6.4xlarge", "eu-south-2")["on_demand_usd_per_hour"] == 1.6


@pytest.mark.bench
def test_a_refusal_keeps_what_was_read_for_the_run_that_accepts(folder, capsys):
    doubled = Wire()
    dear = lambda url, **options: double(doubled(url, **options))  # noqa: E731
    assert refresh(folder, dear) == 1
    error = capsys.readouterr().err
    assert "What was read of 3 regions is kept" in error
    accepted = [
        word
        for line in error.splitlines()
        if "--accept " in line
        for word in ("--accept", line.rpartition("--accept ")[2])
    ]
    silent = Wire()
    assert refresh(folder, silent, *accepted) == 0, capsys.readouterr().err
    assert silent.opened == []


def double(answer):
    return sent(answer.read().replace(b"1.6000000000", b"4.1000000000"))


def test_what_is_kept_is_of_the_same_question_and_day(tmp_path):
    scope = Scope(REGIONS, ("gr6",), frozenset(["gr6.4xlarge"]), {}, {"a": "b"})
    part = Answers()
    part.put("on_demand", "gr6.4xlarge", "us-east-1", "here", usd_per_hour=1.5, basis="published")
    part.put_small("endpoints", "a", "us-east-1", "there", usd_per_million_input_tokens=1.0)
    part.covered["spot"].add("us-east-1")
    part.signals.append(
        {"signal": "quota", "region": "us-east-1", "of": "L-1", "answer": "yes", "value": 1.0}
    )

    def read_region(region, of_region, answers):
        assert of_region.regions == (region,)
        answers.absorb(part)

    hours = [0.0]
    cache = RegionCache(
        tmp_path,
        scope,
        "public",
        lambda: hours[0] + next((tmp_path / FOLDER).glob("*")).stat().st_mtime,
    )
    first = cache.read(scope, read_region, lambda _: None)
    assert cache.read(scope, None, lambda _: None) == first
    assert first.prices == part.prices
    other = [
        Scope(REGIONS, ("g5",), scope.instances, {}, scope.models),
        Scope(REGIONS, ("gr6",), frozenset(), {}, scope.models),
    ]
    assert [RegionCache(tmp_path, asked, "public").missing(REGIONS) for asked in other] == [
        list(REGIONS)
    ] * 2
    assert RegionCache(tmp_path, scope, "account").missing(REGIONS) == list(REGIONS)
    hours[0] = timedelta(days=1).total_seconds() + 1
    assert cache.missing(REGIONS) == list(REGIONS)
    hours[0] = 0
    half = next((tmp_path / FOLDER).glob("eu-west-1*"))
    half.write_text(half.read_text("utf-8")[:40], "utf-8")
    assert cache.read(scope, read_region, lambda _: None) == first
    failing = Answers()
    failing.fail("a file broke off", OSError())
    assert (
        RegionCache(tmp_path, other[0], "public")
        .read(other[0], lambda *_: _[2].absorb(failing), lambda _: None)
        .failed
    )
    assert RegionCache(tmp_path, other[0], "public").missing(REGIONS) == list(REGIONS)


class Clock:
    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds


def test_size_and_time_to_go_are_said_before_the_download_and_on_the_way():
    clock, lines = Clock(), []
    meter = Meter(lines.append, clock)
    meter.read_bytes, meter.seconds = 2_000_000, 0.2

    def files(url, **_):
        if url == "away":
            raise URLError("no route")
        answer = io.BytesIO(b"x" * 999_999 + b"\n")
        answer.headers = {"Content-Length": "300000000"}
        return answer

    meter.announce(["a", "b", "away"], files)
    assert lines == [
        "To read: 2 large files, 600 MB, 1 more of unknown size, about 1 min at 10.0 MB/s."
    ]
    for _ in range(300):
        clock.seconds += 0.0
        answer = meter.counted(files)("a")
        clock.seconds += 0.05
        assert sum(map(len, answer)) == 1_000_000
    assert lines[1:] == [
        "100 of 600 MB read, about 25 s to go",
        "200 of 600 MB read, about 20 s to go",
        "300 of 600 MB read, about 15 s to go",
    ]


@pytest.mark.sample(2)
@pytest.mark.parametrize("arguments", [(), ("--dry-run",)])
def test_sizes_come_before_the_first_file(folder, capsys, arguments):
    assert refresh(folder, Wire(), *arguments) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[1].startswith("To read: 3 large files, 0 MB, 3 more of unknown size")
    assert lines[2].startswith("[1/3] us-east-1: 2 on demand")
