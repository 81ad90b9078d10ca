"""Jobs of a CSV as answers that are written out: rows that `python -m calc` reads again and gives the same figures."""

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.scenarios.inputs import inputs_by_name
from calc.search.answer import answer


def answered(jobs: pd.DataFrame, catalogs: Catalogs) -> pd.DataFrame:
    """The answers of a table of jobs; a job without a plan keeps its own cells beside its problem."""
    numbered = "job number"
    answers = answer(jobs.assign(**{numbered: np.arange(len(jobs))}), catalogs)
    own = jobs.iloc[answers[numbered].astype(int)].reset_index(drop=True)
    alone = (answers["instance"] == "").to_numpy()
    for name in inputs_by_name().keys() & set(jobs.columns) if alone.any() else ():
        answers[name] = np.where(alone, own[name].to_numpy(dtype=object), answers[name].to_numpy(dtype=object))
    return answers.drop(columns=numbered)
