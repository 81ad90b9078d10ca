"""Fills the caches that the first visitor needs, beside the running server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from pkgutil import walk_packages
from threading import Thread

PANELS = "views"


@asynccontextmanager
async def getting_ready(_app: object) -> AsyncIterator[None]:
    """The life of the server."""
    Thread(target=get_ready, name="ready", daemon=True).start()
    yield


def get_ready() -> None:
    """Load catalogs, answer and panels; the imports wait until the server is up."""
    from calc import CatalogError
    from calc.answers.full_answer import full_answer
    from calc.job.fields import job_of
    from views.session import catalogs, job_state, reading, worker

    with suppress(CatalogError):  # the page says which file it is
        read = catalogs.read_ahead()
        reading.reader()
        answer = full_answer(job_of(job_state.first_visit(), {}), read)
        worker.start_workers()
        for module in walk_packages(import_module(PANELS).__path__, f"{PANELS}."):
            if not module.name.endswith(".page"):  # which is a script
                import_module(module.name)
        from views.plan.choices_cells import compute_all

        worker.wait_until_ready()
        compute_all(answer.job, answer.rows[0], read)
