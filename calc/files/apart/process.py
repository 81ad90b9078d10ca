"""A loaded process that forks a child for each text that it is asked to read.

`python -m calc.files.apart.process NUMBER`: the number is that of an open socket, over which the
connection of each text comes. The catalogs come on standard input. When the socket closes, it ends.
"""

import gc
import os
import resource
import signal
import socket
import sys
import time
from contextlib import suppress
from threading import Thread
from typing import Any

from calc.catalogs.load import Catalogs
from calc.files.apart.messages import pack, receive, send, unpack
from calc.files.door import REFUSALS, one_sentence
from calc.files.request import PASTED, request_of
from calc.files.streams import read

MOST_CPU_SECONDS, MOST_MEMORY_BYTES = 10, 2**30  # of one text; memory beyond what is loaded
NICENESS = 5  # the server and its visitors go first
LOOK_SECONDS = 0.05
ORDINARY = (  # texts of each kind; they load what every reader needs
    b"qwen3-8b lora on an l4, batch 4",
    b"base_model: Qwen/Qwen3-8B\nmicro_batch_size: 1\nadapter: lora\n",
    b"vllm serve Qwen/Qwen3-8B --max-model-len 8192",
    b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0",
)


def main() -> None:
    """Load, then fork for every connection that comes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends it
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children
    control = socket.socket(fileno=int(sys.argv[1]))
    catalogs = unpack(sys.stdin.buffer.read())
    for text in ORDINARY:
        with suppress(*REFUSALS):
            request_of([(PASTED, text)], catalogs)
    gc.collect()
    gc.freeze()  # what is loaded stays shared with the children
    while True:
        message, connections, *_ = socket.recv_fds(control, 1, 1)
        if not message:
            return
        for connection in connections:
            _fork(connection, control, catalogs)


def _fork(connection: int, control: socket.socket, catalogs: Catalogs) -> None:
    """A child reads the text of a connection; where none can start, the connection closes."""
    with suppress(OSError):
        if os.fork() == 0:
            try:
                control.close()
                _answer(socket.socket(fileno=connection), catalogs)
            finally:
                os._exit(0)
    os.close(connection)


def _answer(connection: socket.socket, catalogs: Catalogs) -> None:
    """Read one text within the limits; the answer is (True, result) or (False, refusal)."""
    send(connection, os.getpid().to_bytes(8))
    function, arguments, named = unpack(receive(connection), catalogs)
    limit()
    answer: tuple[bool, Any]
    try:
        answer = True, one_sentence(function)(*arguments, **named)
    except REFUSALS as error:
        answer = False, error
    send(connection, pack(answer, catalogs))


def limit() -> None:
    """Limit the CPU time and the memory of this process from here on."""
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    used_seconds = int(usage.ru_utime + usage.ru_stime) + 1
    resource.setrlimit(
        resource.RLIMIT_CPU, (used_seconds + MOST_CPU_SECONDS, used_seconds + MOST_CPU_SECONDS + 1)
    )
    if sys.platform == "linux":
        most_bytes = _address_space_bytes() + MOST_MEMORY_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
    else:  # macOS does not limit the address space
        Thread(target=_end_beyond, args=(_peak_bytes() + MOST_MEMORY_BYTES,), daemon=True).start()


def _address_space_bytes() -> int:
    """Address space of this process on Linux. [B]"""
    with read("/proc/self/statm") as pages:
        return int(pages.read().split()[0]) * resource.getpagesize()


def _peak_bytes() -> int:
    """Most memory in RAM so far, on macOS, which counts it in bytes. [B]"""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _end_beyond(most_bytes: int) -> None:
    """End the process once it takes more memory than this."""
    while _peak_bytes() < most_bytes:
        time.sleep(LOOK_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    main()
