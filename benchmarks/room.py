"""Many visitors on one process: the time of each change, memory by session, growth.

    python -m benchmarks.room [--sessions 1 25 100] [--seconds 20]
        against the bare page in the same run
    python -m benchmarks.room --churn 500
        memory after so many sessions came and went
    python -m benchmarks.room --minutes 30
        25 people for so long, some going and some coming
    python -m benchmarks.room --large 3
        new small jobs while somebody asks for 512 instances
    python -m benchmarks.room --texts 3
        first pages while somebody pastes texts that cost much to read

Every visitor changes one widget about every five seconds. Read the ratios, and what else ran: the
machine may be shared.
"""

import asyncio
import random
import time
from dataclasses import dataclass, field
from itertools import count
from statistics import median
from urllib.parse import urlencode

from benchmarks.floor import options, p95
from benchmarks.server import FLOOR_PAGE, Server, machine_cpu_seconds
from benchmarks.visitor import Visitor
from calc.files.link.link import VERSION

THINK_SECONDS = 5
FIELD = "Paste or say anything"  # where a text is pasted
SOAKING, AT_ONCE, CHANGES_OF_ONE = 25, 20, 3
SMALL = {"v": VERSION, "goal": "train", "model": "llama-3.2-1b"}
LARGE = {  # what is asked for, the field that makes each job new
    "a training": (
        {"goal": "train", "model": "llama-3.1-405b", "instances_most": 512, "days_most": 90},
        "run_tokens",
        1e12,
    ),
    "people served": (
        {"goal": "serve", "model": "llama-3.1-70b", "instances_most": 512},
        "users",
        5_000,
    ),
    "requests a second": (
        {"goal": "serve", "model": "llama-3.1-8b", "instances_most": 512},
        "requests_per_second",
        2_000,
    ),
}

PASTED = {  # texts that cost much to read
    "variables doubled": "\n".join(["A=aaaaaaaa", *["A=$A$A"] * 26]),
    "keys nested": "[model]\n" + ".".join(["a"] * 100_000) + " = 1\n",
    "references of YAML": "base_model: gpt2\n"
    + "".join(f"k{n}: {f'${{k{n + 1}}}' * 12}\n" for n in range(8))
    + f"k8: {'x' * 40}\n",
    "lists of YAML": "base_model: gpt2\nx: [" + "[]," * 300_000 + "]",
    "words": "llama 3.1 8b on 8 h100 " * 40_000,
    "failures of a log": "Tried to allocate 2 GiB " * 40_000,
}


@dataclass
class Room:
    """Seconds of first pages and changes, errors and failures that one server's visitors met."""

    server: Server
    first: list = field(default_factory=list)
    changes: list = field(default_factory=list)
    errors: int = 0
    failures: int = 0

    def changes_ms(self):
        """The median and the 95th percentile of a change; not a number where there was none.
        [ms]
        """
        seconds = self.changes or [float("nan")]
        return 1e3 * median(seconds), 1e3 * p95(seconds)

    async def visit(self, seed, until, changes=None, think=THINK_SECONDS):
        """Simulate a visitor until a moment, or for a number of changes."""
        visitor = Visitor(self.server.address, seed)
        dice = random.Random(seed)
        try:
            self.first.append(await visitor.open())
            while time.monotonic() < until and changes != 0:
                await asyncio.sleep(dice.uniform(0.5, 1.5) * think)
                self.changes.append(await visitor.change())
                changes = None if changes is None else changes - 1
            await visitor.close()
        except Exception as error:  # any failure of a visit is a finding, counted and named
            self.failures += 1
            print(f"  a visit failed: {type(error).__name__}: {str(error)[:100]}")
        self.errors += visitor.errors


async def busy(server, sessions, seconds):
    """So many visitors who come one after another.

    Return the CPU time of a run of the script [ms], and the row of the table.
    """
    room, memory = Room(server), server.memory_mib()
    cpu = server.cpu_seconds()
    machine = machine_cpu_seconds()
    begun = time.monotonic()
    arrive = 0.15 * sessions
    until = begun + arrive + seconds

    async def come(number):
        await asyncio.sleep(arrive * number / sessions)
        await room.visit(number, until)

    visits = [asyncio.create_task(come(number)) for number in range(sessions)]
    await asyncio.sleep(arrive + seconds)
    session_mib = (server.memory_mib() - memory) / sessions
    await asyncio.gather(*visits)
    used = server.cpu_seconds() - cpu
    others_cores = (machine_cpu_seconds() - machine - used) / (time.monotonic() - begun)
    cpu_ms = 1e3 * used / max(len(room.changes) + len(room.first), 1)
    times = "{:9,.0f} {:11,.0f} {:11,.0f}".format(1e3 * median(room.first), *room.changes_ms())
    return (
        cpu_ms,
        (
            f"{sessions:8} {times} {room.failures:6} {room.errors:6} {cpu_ms:8.1f} "
            f"{session_mib:9.2f} {others_cores:7.1f}"
        ),
    )


def compare(counts, seconds):
    """Run the same visitors on the dashboard and on the bare page, one after the other."""
    print(
        "page       sessions  first ms  change p50  change p95  fails errors  CPU ms  MiB "
        "each  others  CPU/bare"
    )
    with Server(FLOOR_PAGE) as floor, Server() as dashboard:
        for server in (floor, dashboard):
            asyncio.run(busy(server, 1, 2))  # what a process does once
        for sessions in counts:
            (base_ms, base), (taken_ms, taken) = (
                asyncio.run(busy(server, sessions, seconds)) for server in (floor, dashboard)
            )
            print(f"bare       {base}\ndashboard  {taken} {taken_ms / base_ms:9.2f}")


async def _come_and_go(room, first, sessions):
    await asyncio.gather(
        *(
            room.visit(first + number, float("inf"), CHANGES_OF_ONE, 0.1)
            for number in range(sessions)
        )
    )


def churn(sessions):
    """Measure the memory of the process while sessions come and go."""
    print("sessions so far   MiB")
    with Server() as server:
        room = Room(server)
        for first in range(0, sessions + AT_ONCE, AT_ONCE):
            asyncio.run(_come_and_go(room, first, AT_ONCE))
            if first == 0:
                # Libraries, catalogs, caches and what a full room needs at its worst moment.
                before = server.memory_mib()
            print(f"{first + AT_ONCE:15} {server.memory_mib():5,.0f}")
        print(
            f"{sessions} sessions more: {server.memory_mib() - before:+,.0f} MiB; "
            f"{room.failures} failures, {room.errors} error boxes"
        )


async def _soak(server, minutes):
    print("minute  changes  p50 ms  p95 ms  fails errors   MiB  log bytes")
    end = time.monotonic() + 60 * minutes
    seeds = iter(range(10**9))
    room = Room(server)

    async def chair():
        while time.monotonic() < end:  # who goes is followed by the next
            await room.visit(next(seeds), end, changes=random.Random(next(seeds)).randint(5, 40))

    chairs = [asyncio.create_task(chair()) for _ in range(SOAKING)]
    for minute in range(1, minutes + 1):
        await asyncio.sleep(60)
        times = "{:8} {:7,.0f} {:7,.0f}".format(len(room.changes), *room.changes_ms())
        room.changes = []
        what = (
            f"{room.failures:6} {room.errors:6} {server.memory_mib():5,.0f} "
            f"{server.log_bytes():10,}"
        )
        print(f"{minute:6} {times} {what}", flush=True)
    await asyncio.gather(*chairs)


async def _opened(server, job):
    """The first page of a job, by its link. [s]"""
    visitor = Visitor(server.address, 0, urlencode(job))
    seconds = await visitor.open()
    await visitor.close()
    return seconds


async def _beside_a_text(server, rounds):
    numbers = count(1)

    async def first_page():
        return await _opened(server, SMALL | {"run_tokens": 1e9 + next(numbers)})

    await first_page()
    for name, text in PASTED.items():
        alone, waited, seconds = [], [], []
        for number in range(rounds):
            visitor = Visitor(server.address, number)
            await visitor.open()
            alone += [await first_page() for _ in range(3)]
            reading = asyncio.create_task(visitor.write(FIELD, f"{text}\n# {number}"))
            while not reading.done():
                waited.append(await first_page())
            seconds.append(await reading)
            await visitor.close()
        later = max(waited) - median(alone)
        print(
            f"{name:20} {median(seconds):7.2f} {1e3 * median(alone):9,.0f} "
            f"{1e3 * median(waited):11,.0f} {1e3 * max(waited):8,.0f} {1e3 * later:11,.0f}"
        )


def texts(rounds):
    """Measure the delay of a first page while another visitor pastes a text."""
    print("text                 seconds  alone ms  beside p50     most  most later")
    with Server() as server:
        asyncio.run(_beside_a_text(server, rounds))


async def _beside_a_large_job(server, rounds):
    numbers = count(1)

    async def small():
        return await _opened(server, SMALL | {"run_tokens": 1e9 + next(numbers)})

    await small()
    for name, (job, field_name, value) in LARGE.items():
        alone, waited, large = [], [], []
        for _ in range(rounds):
            alone += [await small() for _ in range(5)]
            asking = asyncio.create_task(
                _opened(server, SMALL | job | {field_name: value + next(numbers)})
            )
            while not asking.done():
                waited.append(await small())
            large.append(await asking)
        figures = (median(alone), median(waited), max(waited), p95(waited) - median(alone))
        print(
            f"{name:18} {median(large):7.2f} {{:9,.0f}} {{:11,.0f}} {{:8,.0f}} {{:10,.0f}}".format(
                *(1e3 * value for value in figures)
            )
        )


def large_jobs(rounds):
    """Measure the delay of a new small job while another visitor asks for 512 instances."""
    print("512 instances of   seconds  alone ms  beside p50     most  later p95")
    with Server() as server:
        asyncio.run(_beside_a_large_job(server, rounds))


def main():
    """Run the comparison, or the churn, the soak, or the test with a large job."""
    arguments = options(
        __doc__, sessions=(1, 25, 100), seconds=20.0, churn=0, minutes=0, large=0, texts=0
    )
    if arguments.large:
        large_jobs(arguments.large)
    elif arguments.texts:
        texts(arguments.texts)
    elif arguments.churn:
        churn(arguments.churn)
    elif arguments.minutes:
        with Server() as server:
            asyncio.run(_soak(server, arguments.minutes))
    else:
        compare(arguments.sessions, arguments.seconds)


if __name__ == "__main__":
    main()
