"""Public training recipes with the instance types that they are published for: do they fit?

    python -m validation.recipes
        estimates every row of data/recipes.csv and writes results/recipes.csv
    python -m validation.recipes --read FOLDER
        reads the recipes again from a copy of their repository

AWS publishes its HyperPod recipes with the instance types that each runs on. A recipe that is
estimated not to fit its first type is a miss of the reader or of the estimate; those that nothing
reads are rows without a model.
"""

import argparse
import re
from pathlib import Path

import pandas as pd

from calc import estimate, load_catalogs
from calc.files.configs.problem import ConfigProblem
from calc.files.imported_run import import_run
from calc.models.huggingface.values import ConfigError

HERE = Path(__file__).parent
RECIPES, RESULTS = HERE / "data" / "recipes.csv", HERE / "results" / "recipes.csv"
FOLDERS = ("recipes_collection/recipes/fine-tuning", "recipes_collection/recipes/training")
CLOSED = re.compile(r"nova")  # models whose weights are not public
ABOUT = ("recipe", "source_tool", "unread")


def read(folder, catalogs):
    """Yield a row for each recipe: its scenario's columns, or why it is not read."""
    paths = sorted(path for part in FOLDERS for path in (folder / part).rglob("*.yaml"))
    rows = []
    for path in paths:
        name = str(path.relative_to(folder / FOLDERS[0].rpartition("/")[0]))
        if CLOSED.search(name):
            continue
        try:
            run = import_run([(path.name, path.read_bytes())], catalogs)
        except (ConfigProblem, ConfigError) as error:
            rows.append({"recipe": name, "unread": str(error)[:200]})
            continue
        about = {"recipe": name, "source_tool": run.source_tool}
        problem = {"unread": run.row["problem"][:200]} if run.row["problem"] else {}
        rows.append({**about, **run.scenario, **problem})
    return pd.DataFrame(rows)


def estimates_of(recipes, catalogs):
    """The recipes that are read, each with its memory and whether it fits."""
    rows = recipes[recipes["unread"].isna() & recipes["model"].notna()]
    scenarios = rows.drop(columns=[*ABOUT], errors="ignore")
    several = estimate(scenarios.astype(object).where(scenarios.notna(), None), catalogs)
    told = several[["memory_bytes", "needed_bytes", "gpu_memory_bytes", "fits", "problem"]]
    return pd.concat([rows[["recipe", *KEPT]].reset_index(drop=True), told], axis=1)


KEPT = ("source_tool", "model", "objective", "tuning", "instance", "gpus")


def summary(results):
    """The number of recipes by tool, tuning and verdict."""
    named = results[results["instance"].notna() & (results["instance"] != "")]
    return named.groupby(["source_tool", "tuning", "fits"], dropna=False).size()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--read", metavar="FOLDER", help="a copy of sagemaker-hyperpod-recipes")
    options = parser.parse_args()
    catalogs = load_catalogs()
    if options.read:
        read(Path(options.read), catalogs).to_csv(RECIPES, index=False)
    results = estimates_of(pd.read_csv(RECIPES), catalogs)
    results.to_csv(RESULTS, index=False)
    print(summary(results).to_string())


if __name__ == "__main__":
    main()
