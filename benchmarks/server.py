"""Runs a dashboard on a free port and measures its memory, CPU time and log (Linux)."""

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FLOOR_PAGE = "benchmarks/floor_page.py"
PATIENCE_SECONDS = 90


def free_port():
    """A port that nothing listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Server:
    """A Streamlit script served for as long as the `with` lasts."""

    def __init__(self, script="dashboard.py", port=None):
        self.script, self.port = script, port or free_port()
        self.address = f"127.0.0.1:{self.port}"

    def __enter__(self):
        self.log = tempfile.TemporaryFile()
        command = [
            sys.executable,
            "-m",
            "streamlit",
            "run",
            self.script,
            "--server.port",
            str(self.port),
        ]
        # As make run and make serve.
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "MALLOC_ARENA_MAX": "2",
            "MALLOC_MMAP_THRESHOLD_": "1048576",
            "MALLOC_TRIM_THRESHOLD_": "16777216",
        }
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=self.log, stderr=self.log
        )
        end = time.monotonic() + PATIENCE_SECONDS
        while not self._answers():
            if time.monotonic() > end or self.process.poll() is not None:
                self.process.kill()
                raise SystemExit(f"{self.script} did not start within {PATIENCE_SECONDS} s.")
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()

    def _answers(self):
        try:
            with urllib.request.urlopen(
                f"http://{self.address}/_stcore/health", timeout=5
            ) as answer:
                return answer.status == 200
        except OSError:
            return False

    def memory_mib(self):
        """RAM of the process and its children; shared pages count once. [MiB]"""
        rolled_up = [_of_process(number, "smaps_rollup") for number in self._numbers_of_processes()]
        return sum(int(text.partition("\nPss:")[2].split()[0]) for text in rolled_up if text) / 1024

    def cpu_seconds(self):
        """CPU time of the process and its children since they started. [s]"""
        ticks = 0
        for number in self._numbers_of_processes():
            if text := _of_process(number, "stat"):
                fields = text.rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def _numbers_of_processes(self):
        """The process and all that it started."""
        parents = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # ended meanwhile
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                parents.setdefault(parent, []).append(int(folder.name))
        numbers = [self.process.pid]
        for number in numbers:
            numbers += parents.get(number, [])
        return numbers

    def log_bytes(self):
        """Size of the log that the server has written. [B]"""
        return os.fstat(self.log.fileno()).st_size


def _of_process(number, file):
    """The text of a file of a process; empty if the process has ended."""
    try:
        return Path(f"/proc/{number}/{file}").read_text()
    except OSError:
        return ""


def machine_cpu_seconds():
    """CPU time of everything on this machine, to report what else ran. [s]"""
    user, nice, system, _idle, _wait, irq, softirq, *_ = map(
        int, Path("/proc/stat").read_text().split("\n")[0].split()[1:]
    )
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")
