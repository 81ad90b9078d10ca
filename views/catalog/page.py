"""The Catalog page: instances, models, prices, and the accuracy of the estimates."""

from views.catalog import accuracy, instances, models_and_prices
from views.shared.elements import tabs_of

tabs_of(
    "catalog",
    {
        "instances": ("Instances", instances.draw),
        "models": ("Models and prices", models_and_prices.draw),
        "accuracy": ("Accuracy", accuracy.draw),
    },
)
