"""A PostgreSQL server of the tests' own, in a folder that goes with it; it listens on a socket there and on no port."""

import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

from needed import missing

DEBIAN = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name))


def program(name):
    """Where a program of PostgreSQL is; without one the test is skipped, in continuous integration it fails."""
    path = shutil.which(name, path=os.pathsep.join([*map(str, reversed(DEBIAN)), os.environ.get("PATH", "")]))
    if not path:
        missing("PostgreSQL is not installed", "apt-get install postgresql")
    return path


@contextmanager
def server():
    """Its address, for as long as it runs. It refuses to run as root: root hands it to the user that Debian makes for it."""
    initdb, ctl = program("initdb"), program("pg_ctl")
    account = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
    if account and "postgres" not in {entry.pw_name for entry in pwd.getpwall()}:
        missing("PostgreSQL does not run as root", "make a user postgres")
    with tempfile.TemporaryDirectory(prefix="headroom-") as folder:
        if account:
            shutil.chown(folder, **account)
        data = f"{folder}/data"
        run = {"check": True, "stdout": subprocess.DEVNULL, "cwd": folder, **account}
        subprocess.run([initdb, "-D", data, "-U", "headroom", "-A", "trust", "-E", "UTF8", "--no-sync"], **run)
        options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
        subprocess.run([ctl, "-D", data, "-l", f"{folder}/log", "-o", options, "-w", "start"], **run)
        try:
            yield f"postgresql+psycopg://headroom@/postgres?host={folder}"
        finally:
            subprocess.run([ctl, "-D", data, "-m", "immediate", "-w", "stop"], **run)
