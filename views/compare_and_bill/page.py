"""The Compare & bill page: kept answers and their bill, other ways to pay, the shelf."""

from views.compare_and_bill import bill, compare, shelf
from views.shared.elements import tabs_of

tabs_of("compare", {"compare": ("Compare", compare.draw), "pay": ("Bill", bill.draw), "shelf": ("Shelf", shelf.draw)})
