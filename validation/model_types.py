"""How many model types of transformers are counted as their classes count them: default configs, on the meta device.

A type that cannot be built so from its default config, and what LACKS adds to it, is left out. Of a type of several parts
the text part is held against the language model and the head. Needs requirements/validation.txt:
`python -m validation.model_types`.
"""

import logging
import signal
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForCTC,
    AutoModelForImageClassification,
    AutoModelForImageTextToText,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
)
from transformers.models.auto import modeling_auto

from calc import load_catalogs
from calc.models.architecture import model_table
from calc.models.huggingface.config import ConfigError, read_config

FILE = Path(__file__).parent / "results" / "model_types.csv"
SETS = {
    "causal": (modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, AutoModelForCausalLM),
    "image-text": (modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES, AutoModelForImageTextToText),
    "masked": (modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES, AutoModelForMaskedLM),
    "sequence to sequence": (modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES, AutoModelForSeq2SeqLM),
    "image": (modeling_auto.MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES, AutoModelForImageClassification),
    "sound": (modeling_auto.MODEL_FOR_CTC_MAPPING_NAMES, AutoModelForCTC),
}
# What a default config leaves empty that a model needs to run, as published files of the type fill it.
LACKS = {
    "dbrx": {"attn_config": {"rope_theta": 500000.0}},
    "deepseek_v2": {"num_experts_per_tok": 6},
    "dots1": {"n_routed_experts": 128, "n_shared_experts": 2, "num_experts_per_tok": 6},
    "glm4_moe": {"head_dim": 128},
    "hunyuan_v1_dense": {"head_dim": 128},
    "hunyuan_v1_moe": {"head_dim": 128},
    "lfm2_moe": {"layer_types": ["conv", "conv", "full_attention", "conv"] * 8},
    "ministral": {"head_dim": 128},
    "nemotron": {"num_key_value_heads": 8},
}
OF_TEXT = ("language_model.", ".text_model.", "lm_head", "embed_out")
BESIDE_TEXT = "embed_tokens_extend."  # towers inside a language model (Phi-4 multimodal)
SECONDS = 60  # a class that takes longer to build is left out


@contextmanager
def at_most(seconds):
    """Ends what takes longer by a TimeoutError."""
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError()))
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def counted_by_class(config, head):
    """The name of the class and its parameters, those of its text part where it has several parts. [parameters]"""
    with torch.device("meta"):
        model = head.from_config(config)
    model.tie_weights()
    sizes = {name: parameter.numel() for name, parameter in model.named_parameters() if BESIDE_TEXT not in name}
    text = {name: size for name, size in sizes.items() if any(part in name for part in OF_TEXT)}
    several = any(part in name for name in text for part in OF_TEXT[:2])
    return type(model).__name__, sum((text if several else sizes).values())


def counted_here(config, catalogs):
    """Parameters as calc counts them, or the sentence by which it refuses them or says that this class is not covered."""
    try:
        entry = read_config(config, "it", catalogs)
    except ConfigError as error:
        return str(error)
    models, _ = model_table({"it": entry}, catalogs.families)
    note = models.loc["it", "note"]
    return note if "Its architectures name" in note else int(models.loc["it", "parameters"])


def row_of(name, head, catalogs):
    """One type: the class's count and ours, and what comes of it."""
    try:
        with at_most(SECONDS):
            config = AutoConfig.for_model(name, **LACKS.get(name, {}))
            class_name, truth = counted_by_class(config, head)
    except Exception as error:
        return {"type": name, "verdict": "not built", "why": f"{type(error).__name__}"}
    counted = counted_here({**config.to_dict(), "architectures": [class_name]}, catalogs)
    if isinstance(counted, str):
        return {"type": name, "verdict": "refused", "class": truth, "why": counted}
    return {"type": name, "verdict": "exact" if counted == truth else "wrong", "class": truth, "here": counted}


def main():
    logging.disable(logging.WARNING)
    catalogs, rows = load_catalogs(), []
    for kind, (names, head) in SETS.items():
        kind_rows = [{"set": kind, **row_of(name, head, catalogs)} for name in sorted(names)]
        verdicts = Counter(row["verdict"] for row in kind_rows)
        built = sum(verdicts.values()) - verdicts["not built"]
        print(
            f"{kind}: {built} types built, " + ", ".join(f"{verdicts[word]} {word}" for word in ("exact", "refused", "wrong")), flush=True
        )
        for row in kind_rows:
            if row["verdict"] == "wrong":
                print(f"  {row['type']}: {row['here']:,} and not {row['class']:,}", file=sys.stderr)
        rows += kind_rows
    pd.DataFrame(rows, columns=["set", "type", "verdict", "class", "here", "why"], dtype=object).to_csv(FILE, index=False)


if __name__ == "__main__":
    main()
