"""The price of being wrong where a plan may not fit."""

import numpy as np
import pandas as pd

from calc.say.cost_of_failure import failure_sentence

ROW = {
    "fit_probability": 0.974,
    "seconds": 3600.0,
    "usd": 100.0,
    "usd_per_hour": 30.0,
    "start_hours": 0.5,
    "instance": "p5.48xlarge",
    "market": "on-demand",
}
ROW |= {
    "instances_needed": 1.0,
    "fits": "yes",
    "runs": "yes",
    "missed_limits": "",
    "gpus": 8.0,
    "spare_instances": 0.0,
}


def test_a_failed_start_and_the_next_roomier_choice_are_priced_below_99_in_100():
    roomier = ROW | {"fit_probability": 0.999, "usd": 140.0, "instances_needed": 2.0}
    others = [
        ROW,
        roomier | {"usd": 120.0, "missed_limits": "hours_most"},
        roomier | {"usd": 110.0, "fits": "tight"},
        roomier,
    ]
    failed = "If it does not fit, the failed start costs $15; "
    assert (
        failure_sentence(ROW, pd.DataFrame(others))
        == f"{failed}the next option with more room, 2 × p5.48xlarge, costs 40 % more."
    )
    assert (
        failure_sentence(ROW, pd.DataFrame(others[:-1]))
        == f"{failed}no option in the table has more room."
    )
    assert (
        failure_sentence(roomier, pd.DataFrame(others))
        == failure_sentence(ROW | {"usd": np.nan}, pd.DataFrame(others))
        == ""
    )
