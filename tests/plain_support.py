"""What runs where, read from catalogs/edited/support.yaml one row at a time: an independent reading to hold the vectorised one against."""

from functools import lru_cache

from examples import entries

RULES = entries("support")
WORST_LAST = ("runs", "emulated", "unknown", "refuses")
SAID = dict(zip(WORST_LAST, ("yes", "emulated", "unknown", "no"), strict=True))


def pair(capability):
    """'8.9' as (8, 9)."""
    major, minor = capability.split(".")
    return int(major), int(minor)


@lru_cache(maxsize=4)
def facts(catalogs):
    """Models, instances and cards as dicts, and the widest latent cache of each model."""
    latent_width = catalogs.stacks.groupby("model")["latent_width"].max().to_dict()
    return catalogs.models.to_dict("index"), catalogs.instances.to_dict("index"), catalogs.gpus.to_dict("index"), latent_width


def traits(row, catalogs):
    """What rules ask of a result row that has a card."""
    models, instances, cards, latent_width = facts(catalogs)
    model, card = models[row["model"]], row["gpu"]
    if row["instance"]:
        arm, family = (instances[row["instance"]][name] for name in ("arm", "family"))
    else:
        hosts, family = [instance["arm"] for instance in instances.values() if instance["gpu"] == card], ""
        arm = len(hosts) > 0 and all(hosts)
    capability = cards[card]["compute_capability"]
    cache = row["kv_precision"] or ("bf16" if row["precision"].startswith("bf16") else "fp16")
    return {
        **{name: row[name] for name in ("work", "precision", "attention", "compile", "gpus")},
        "software": row["implementation"],
        "capability": pair(capability) if capability[0].isdigit() else None,
        "host_architecture": "arm64" if arm else "x86_64",
        "model_type": model["model_type"],
        "head_size": model["head_dim"],
        "latent_cache": latent_width[row["model"]] > 0,
        "replica_gpus": row["tensor_parallel"] * row["pipeline_parallel"] * row["context_parallel"],
        "loading": "default",
        "host": family,
        "kv_precision": cache,
    }


def counts(rule, row):
    """Whether a rule counts for a row of traits."""
    if rule["software"] not in ("any", row["software"]) or rule["work"] not in ("any", row["work"]):
        return False
    if row[rule["what"]] not in rule["values"] or rule.get("host_architecture", row["host_architecture"]) != row["host_architecture"]:
        return False
    for end, beyond in (("min", lambda capability, bound: capability < bound), ("max", lambda capability, bound: capability > bound)):
        bound = rule.get(f"{end}_compute_capability")
        if bound and (row["capability"] is None or beyond(row["capability"], pair(bound))):
            return False
    for size in ("gpus", "replica_gpus", "head_size"):
        if f"{size}_above" in rule and not row[size] > rule[f"{size}_above"]:
            return False
    if rule.get("latent_cache") and not row["latent_cache"]:
        return False
    if "model_types" in rule and row["model_type"] not in rule["model_types"]:
        return False
    return "precisions" not in rule or row["precision"] in rule["precisions"]


def reading(row):
    """What `runs` is to say of a row of traits, and the rules that it rests on."""
    rules = {name: rule for name, rule in RULES.items() if counts(rule, row)}
    specific = {rule["what"] for rule in rules.values() if rule["software"] != "any"}
    rules = {name: rule for name, rule in rules.items() if rule["software"] != "any" or rule["what"] not in specific}
    verdicts = [rule["verdict"] for rule in rules.values()]
    if not any(rule["what"] == "loading" for rule in rules.values()):
        verdicts.append("unknown")
    return SAID[max(verdicts, key=WORST_LAST.index)], rules
