"""The Understand page: the plan varied in one thing at a time, and every formula."""

from views.shared.elements import tabs_of
from views.understand import explore, method

tabs_of("understand", {"explore": ("Explore", explore.draw), "method": ("Method", method.draw)})
