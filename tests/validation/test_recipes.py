"""Recipes that AWS publishes with their instance types: they are read, and judged to fit them."""

import pandas as pd
from examples import catalogs

from validation.recipes import RECIPES, estimates_of

READ_RATIO, FIT_RATIO, LORA_FIT_RATIO = 0.85, 0.9, 0.98


def test_published_recipes_fit_the_instances_that_they_are_published_for():
    """The misses are full tuning with gradients kept whole between micro-batches."""
    recipes = pd.read_csv(RECIPES).iloc[::4]  # all of them: python -m validation.recipes
    results = estimates_of(recipes, catalogs())
    assert len(results) / len(recipes) >= READ_RATIO
    named = results[results["instance"].notna()]
    assert len(named) > 50
    fits = named["fits"].isin(["yes", "tight"])
    assert fits.mean() >= FIT_RATIO
    assert fits[named["tuning"] == "lora"].mean() >= LORA_FIT_RATIO
