"""`make serve`: several processes behind nginx answer under one name, say how they may be used, and
outlive one of them.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from contextlib import closing, contextmanager
from http.client import HTTPConnection, RemoteDisconnected
from pathlib import Path

import pytest
import streamlit
from browser import missing
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

ROOT = Path(__file__).parents[2]
NAME = "headroom.test"
USER = {"user": "nobody", "group": "nogroup", "extra_groups": []}
XSRF = "_streamlit_xsrf"
LARGEST_UPLOAD_BYTES = 5_000_000
CHUNK_BYTES, PAUSE_SECONDS = 2**18, 3
pytestmark = pytest.mark.long


@pytest.fixture(scope="module", params=["as whoever runs the tests", "as an ordinary user"])
def ports(request):
    """A port for nginx, and the first of two for the processes; root serves as another user too."""
    if not shutil.which("nginx"):
        missing("nginx is not installed", "apt-get install nginx-light")
    ordinary = request.param == "as an ordinary user"
    if ordinary and os.geteuid() != 0:
        pytest.skip("the tests run as an ordinary user already")
    if ordinary and not _can_read_checkout():
        pytest.skip("an ordinary user cannot read this checkout")
    as_user = USER if ordinary else {}
    front, first = _free(), _free()
    environment = {
        **os.environ,
        "PORT": str(front),
        "FIRST_PORT": str(first),
        "HOST": NAME,
        "PROCESSES": "2",
    }
    if ordinary:
        environment["HOME"] = pwd.getpwnam(USER["user"]).pw_dir
    served = subprocess.Popen(
        ["bash", ".serve/serve.sh"], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, **as_user
    )
    try:
        _until(lambda: _asked(front)[0] == 200, 90)
        yield front, first
    finally:
        served.terminate()
        served.wait(20)
    _until(lambda: not _process(first) and not _process(first + 1), 10)


def _can_read_checkout():
    reads = [str(ROOT / ".venv/bin/python"), "-c", "import streamlit, calc"]
    try:
        return subprocess.run(reads, cwd=ROOT, capture_output=True, **USER).returncode == 0
    except OSError:
        return False


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


def _cookies(front):
    """The cookies of a first visit: the one of its process, and the one that uploads repeat."""
    with closing(HTTPConnection("127.0.0.1", front, timeout=5)) as connection:
        connection.request("GET", "/_stcore/health", headers={"Host": NAME})
        answer = connection.getresponse()
        answer.read()
        pairs = [
            value.split(";")[0].split("=", 1) for value in answer.headers.get_all("set-cookie")
        ]
        return dict(pairs)


@contextmanager
def _session(front, cookies):
    """The id of a session in the process that the cookies name, for as long as it is connected."""
    with connect(
        f"ws://{NAME}:{front}/_stcore/stream",
        sock=socket.create_connection(("127.0.0.1", front)),
        origin=f"http://{NAME}:{front}",
        additional_headers={"Cookie": _line(cookies)},
        subprotocols=["streamlit"],
        max_size=2**26,
        proxy=None,
    ) as connection:
        connection.send(BackMsg(rerun_script={"query_string": ""}).SerializeToString())
        messages = (ForwardMsg.FromString(connection.recv(60)) for _ in range(1000))
        first = next(one for one in messages if one.WhichOneof("type") == "new_session")
        yield first.new_session.initialize.session_id


def _line(cookies):
    return "; ".join(f"{name}={value}" for name, value in cookies.items())


@pytest.mark.parametrize("size_bytes", [100_000, 1_000_000, LARGEST_UPLOAD_BYTES])
def test_an_upload_arrives_whole(ports, size_bytes):
    cookies = _cookies(ports[0])
    with (
        _session(ports[0], cookies) as session,
        closing(HTTPConnection("127.0.0.1", ports[0], timeout=30)) as connection,
    ):
        body = (
            b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n'
            b"Content-Type: text/csv\r\n\r\n" + b"a" * size_bytes + b"\r\n--x--\r\n"
        )
        headers = {
            "Host": NAME,
            "Cookie": _line(cookies),
            "X-Xsrftoken": cookies[XSRF],
            "Content-Type": "multipart/form-data; boundary=x",
        }
        connection.request("PUT", f"/_stcore/upload_file/{session}/a", body, headers)
        assert connection.getresponse().status == 204


def _largest_file():
    """The address and the content of the largest file of the page."""
    folder = Path(streamlit.__file__).parent / "static"
    path = max((folder / "static").rglob("*.js"), key=lambda file: file.stat().st_size)
    return f"/{path.relative_to(folder).as_posix()}", path.read_bytes()


def test_a_slow_reader_gets_the_whole_file(ports):
    """Its window is small, so what it has not read yet waits in the folder of nginx."""
    path, content = _largest_file()
    with socket.socket() as reader:
        reader.settimeout(60)
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.connect(("127.0.0.1", ports[0]))
        reader.sendall(f"GET {path} HTTP/1.0\r\nHost: {NAME}\r\n\r\n".encode())
        time.sleep(PAUSE_SECONDS)
        received = bytearray()
        while chunk := reader.recv(CHUNK_BYTES):
            received += chunk
    head, _, body = bytes(received).partition(b"\r\n\r\n")
    assert b" 200 " in head.splitlines()[0]
    assert body == content


def test_a_killed_process_is_not_missed_and_comes_back(ports):
    front, first = ports
    killed = _process(first)
    os.kill(killed, signal.SIGKILL)
    begun = time.monotonic()
    assert {_asked(front)[0] for _ in range(20)} == {200}
    assert time.monotonic() - begun < 20
    _until(lambda: _process(first) not in (None, killed) and _asked(first)[0] == 200, 60)
