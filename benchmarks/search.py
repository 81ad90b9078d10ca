"""The search over at least a million ways against a floor: ten arithmetic operations of NumPy over as many rows.

    python -m benchmarks.search

Prints both times, the best of five each, and their ratio, for training and for serving, in one region and anywhere.
"""

from time import perf_counter

from benchmarks.floor import floor
from calc import load_catalogs
from calc.scenarios.inputs import DEFAULTS
from calc.search.limits import limits_of, usual_limits
from calc.search.questions import serving_users
from calc.search.search import search
from calc.search.space import usual

TIMES = 5
TRAINED = DEFAULTS | {"model": "llama-3.1-8b", "precision": "bf16-mixed", "sequence_tokens": 4096, "train_tokens": 1e9}
SERVED = DEFAULTS | {"model": "qwen2.5-32b", "sequence_tokens": 8192, "prompt_tokens": 6000, "precision": "bf16"}


def fastest(run):
    """The shortest of several runs, in seconds."""
    seconds = []
    for _ in range(TIMES):
        started = perf_counter()
        run()
        seconds.append(perf_counter() - started)
    return min(seconds)


def cases(catalogs):
    """Name, workload, allowed sets, limits."""
    trained = usual(TRAINED)
    yield "training, one region", TRAINED, trained, usual_limits(TRAINED, catalogs)
    yield "training, anywhere", TRAINED, trained | {"region": []}, usual_limits(TRAINED, catalogs)
    asked, sets, limits = serving_users(SERVED, catalogs, 20)
    yield "serving, one region", asked, sets, limits
    yield "serving, anywhere", asked, sets | {"region": []}, limits


def main():
    """Print a line per case."""
    catalogs = load_catalogs()
    print("case                        ways    search s     floor s   ratio   million ways a second")
    for name, workload, sets, limits in cases(catalogs):
        ways = search(workload, sets, limits_of(limits), catalogs).evaluated
        found = fastest(lambda w=workload, s=sets, b=limits: search(w, s, limits_of(b), catalogs))
        least = fastest(floor(ways))
        print(f"{name:20} {ways:>12,} {found:11.3f} {least:11.4f} {found / least:7.1f} {ways / found / 1e6:9.1f}")


if __name__ == "__main__":
    main()
