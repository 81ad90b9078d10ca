"""A config that trains by preference or reward is refused; supervised ones are read as before."""

import pytest
from examples import recorded

from calc.files.configs.preference import refuse_preference
from calc.files.configs.problem import ConfigProblem

REFUSED = recorded("cases/preference.json")["refused"]
READ = recorded("cases/preference.json")["supervised"]


@pytest.mark.parametrize("text", REFUSED)
def test_preference_and_reward_are_refused_by_name(text):
    with pytest.raises(ConfigProblem, match="preference or reward") as raised:
        refuse_preference(text, "pasted")
    assert f"({REFUSED[text]}" in str(raised.value)


@pytest.mark.parametrize("text", READ)
def test_supervised_runs_are_not_refused(text):
    """Whatever their runs, folders, data and comments are called."""
    refuse_preference(text, "pasted")
