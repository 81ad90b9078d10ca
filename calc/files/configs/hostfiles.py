"""Hostfiles of DeepSpeed and MPI: the nodes of a run, and the GPUs of each."""

import re

from calc.mappings import Json

HOST = re.compile(r"[\w.-]{1,120}(?:[ \t]+|:)(?:slots[ \t]*=[ \t]*)(?P<slots>\d{1,3})(?:[ \t].*)?")
MOST_LINES = 5_000


def gpus_of_hosts(text: str) -> Json:
    """Return the nodes and the GPUs of each that a hostfile lists; empty for any other text.

    Its lines are such as worker-1 slots=8. Source: DeepSpeed, launcher/runner.py, fetch_hostfile.
    """
    lines = [line.partition("#")[0].strip() for line in text.splitlines()[:MOST_LINES]]
    hosts = [HOST.fullmatch(line) for line in lines if line]
    slots = {int(host["slots"]) for host in hosts if host}
    if not all(hosts) or len(slots) != 1:
        return {}
    return {"gpus_per_node": slots.pop(), "nodes": len(hosts)}
