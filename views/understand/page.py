"""The Understand page: one step walked through, the plan varied in one thing, every formula."""

from views.shared.elements import tabs_of
from views.understand import explore, method, step_through

tabs_of(
    "understand",
    {
        "step": ("Step through", step_through.draw),
        "explore": ("Explore", explore.draw),
        "method": ("Method", method.draw),
    },
)
