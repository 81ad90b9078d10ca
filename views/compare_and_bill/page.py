"""The Compare & bill page: kept answers and their bill, other ways to pay, the shelf."""

from views.compare_and_bill import (
    actual,
    compare,
    earlier,
    fine_tune_then_serve,
    load_day,
    pay,
    shelf,
    team,
    teams,
)
from views.shared.elements import tabs_of

tabs = {
    "compare": ("Compare and bill", compare.draw),
    "pay": ("Other ways to pay", pay.draw),
    "tuned": ("Fine-tune, then serve", fine_tune_then_serve.draw),
    "team": ("Schedule", team.draw),
    "load": (load_day.NAME, load_day.draw),
    "teams": (teams.NAME, teams.draw),
    "actual": (actual.NAME, actual.draw),
    "shelf": (shelf.name(), shelf.draw),
}
tabs_of("compare", tabs, earlier.csv_out_and_in)
