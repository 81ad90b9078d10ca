"""`make serve`: several processes behind nginx answer under one name, say how they may be used, and
outlive one of them.
"""

import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import closing
from http.client import HTTPConnection, RemoteDisconnected
from pathlib import Path

import pytest
from browser import missing

ROOT = Path(__file__).parent.parent
NAME = "headroom.test"
pytestmark = [pytest.mark.long, pytest.mark.xdist_group("serve")]


@pytest.fixture(scope="module")
def ports():
    """A port for nginx, and the first of two for the processes."""
    if not shutil.which("nginx"):
        missing("nginx is not installed", "apt-get install nginx-light")
    front, first = _free(), _free()
    environment = {
        **os.environ,
        "PORT": str(front),
        "FIRST_PORT": str(first),
        "HOST": NAME,
        "PROCESSES": "2",
    }
    served = subprocess.Popen(
        ["bash", ".serve/serve.sh"], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL
    )
    try:
        _until(lambda: _asked(front)[0] == 200, 90)
        yield front, first
    finally:
        served.terminate()
        served.wait(20)
    _until(lambda: not _process(first) and not _process(first + 1), 10)


def _free():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _asked(port, path="/_stcore/health", name=NAME):
    """The status and the headers of an answer."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
        connection.request("GET", path, headers={"Host": name})
        answer = connection.getresponse()
        answer.read()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}


def _until(holds, seconds):
    """Wait until something holds; connections may be refused meanwhile."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if holds():
                return
        except OSError:
            pass
        time.sleep(0.2)
    raise AssertionError(f"not within {seconds} s")


def _process(port):
    """The number of the process that serves on a port, or none."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"streamlit" in words and str(port).encode() in words:
            return int(folder.name)
    return None


def test_the_page_says_how_it_may_be_used_and_another_name_is_not_answered(ports):
    status, headers = _asked(ports[0], "/")
    assert status == 200
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["set-cookie"].startswith("headroom=")
    with pytest.raises(RemoteDisconnected):
        _asked(ports[0], "/", "evil.example")


def test_a_killed_process_is_not_missed_and_comes_back(ports):
    front, first = ports
    killed = _process(first)
    os.kill(killed, signal.SIGKILL)
    begun = time.monotonic()
    assert {_asked(front)[0] for _ in range(20)} == {200}
    assert time.monotonic() - begun < 20
    _until(lambda: _process(first) not in (None, killed) and _asked(first)[0] == 200, 60)
