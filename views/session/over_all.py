"""The same job without the instances that were set by hand: what a restriction is held against."""

from calc.answers.options import options
from views.session import job_state

PLACES = ("instance", "gpu")


def over_all(catalogs):
    """The options of the job on every instance; None where none was set by hand."""
    job = job_state.now().job
    if not any(job.get(name) for name in PLACES):
        return None
    return options({name: value for name, value in job.items() if name not in PLACES}, catalogs)
