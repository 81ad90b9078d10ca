"""The Catalog page: instances, models, prices, and the accuracy of the estimates."""

from views.catalog import accuracy, instances, models, prices
from views.session.catalogs import catalogs
from views.shared.elements import tabs_of

CATALOGS = catalogs()

tabs_of(
    "catalog",
    {
        "instances": (f"Instances ({len(CATALOGS.instances)})", instances.draw),
        "models": (f"Models ({len(CATALOGS.models)})", models.draw),
        "prices": (f"Prices ({len(CATALOGS.prices)})", prices.draw),
        "accuracy": ("Accuracy", accuracy.draw),
    },
)
