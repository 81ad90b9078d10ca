"""The columns of a job by name, for programs outside this repository."""

from calc.job.columns import JOB_BY_NAME

__all__ = ["JOB_BY_NAME"]
