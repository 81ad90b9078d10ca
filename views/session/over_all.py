"""The same job with less in its way: what a restriction is held against."""

from calc.catalogs.load import Catalogs
from calc.search.options import Options, options
from calc.search.settle import published_bits
from views.session import job_state

PLACES = ("instance", "gpu")


def over_all(catalogs: Catalogs) -> Options | None:
    """The options of the job on every instance; None where none was set by hand."""
    job = job_state.current().job
    if not any(job.get(name) for name in PLACES):
        return None
    return options({name: value for name, value in job.items() if name not in PLACES}, catalogs)


def as_published(catalogs: Catalogs) -> tuple[int, Options] | None:
    """The fewest bits that admit the published weights, with the options; None if admitted."""
    job = job_state.current().job
    bits = published_bits(job, catalogs)
    return (bits, options({**job, "fewest_bits": str(bits)}, catalogs)) if bits else None
