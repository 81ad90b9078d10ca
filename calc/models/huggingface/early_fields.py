"""The names of config fields of types from before the common layout: early GPTs and BERTs. Our field -> theirs, by model_type."""

from calc.models.huggingface.field_groups import BART, BERT, DROPOUTS, EXPERTS, GPT2, LLAMA, PROBABILITIES, SIZES, T5

GPT_NEO = {
    **GPT2,
    "layers": "num_layers num_hidden_layers",
    "hidden": "hidden_size",
    "heads": "num_heads num_attention_heads",
    "ffn": "intermediate_size",
    "max_position": "max_position_embeddings",
    "hidden_dropout": "resid_dropout",
    "attention_dropout": "attention_dropout",
}
XGLM = {
    **SIZES,
    "layers": "num_layers num_hidden_layers",
    "hidden": "d_model hidden_size",
    "heads": "attention_heads num_attention_heads",
    "ffn": "ffn_dim",
    "hidden_dropout": "dropout",
    "attention_dropout": "attention_dropout",
}
XLM = {
    **{name: names for name, names in SIZES.items() if name != "ffn"},
    "layers": "n_layers num_hidden_layers",
    "hidden": "emb_dim hidden_size",
    "heads": "n_heads num_attention_heads",
    "vocab": "n_words vocab_size",
    "hidden_dropout": "dropout",
    "attention_dropout": "attention_dropout",
}
XLNET = {
    "layers": "n_layer num_hidden_layers",
    "hidden": "d_model hidden_size",
    "heads": "n_head num_attention_heads",
    "ffn": "d_inner",
    "vocab": "vocab_size n_token",
    "tied": "tie_word_embeddings",
    "hidden_dropout": "dropout",
    "attention_dropout": "dropout",
}
PROPHETNET = {
    **BART,
    "encoder_layers": "num_encoder_layers",
    "decoder_layers": "num_decoder_layers",
    "hidden": "hidden_size",
    "heads": "num_decoder_attention_heads",
    "encoder_heads": "num_encoder_attention_heads",
}
TROCR = {
    **{ours: names for ours, names in BART.items() if "coder_" not in ours},
    "layers": "decoder_layers",
    "learned_positions": "use_learned_position_embeddings",
    "embedding_norms": "layernorm_embedding",
}
CPMANT = {**{name: SIZES[name] for name in ("layers", "hidden", "heads", "vocab")}, "head_dim": "dim_head", "ffn": "dim_ff"}
FIELDS = {
    "bert-generation": {name: names for name, names in BERT.items() if name != "token_types"},
    "big_bird": {**BERT, "qkv_bias": "use_bias"},
    "bigbird_pegasus": {**BART, "qkv_bias": "use_bias", "output_bias": "use_bias"},
    "biogpt": {**SIZES, **PROBABILITIES},
    "cpmant": CPMANT,
    "ctrl": {**GPT2, "ffn": "dff"},
    "flaubert": XLM,
    "fsmt": {**BART, "vocab": "tgt_vocab_size"},
    "gpt_neo": GPT_NEO,
    "gpt_neox_japanese": {**{name: names for name, names in SIZES.items() if name != "ffn"}, **DROPOUTS},
    "ibert": BERT,
    "layoutlm": BERT,
    "led": {**BART, "max_position": "max_encoder_position_embeddings"},
    "longformer": BERT,
    "longt5": T5,
    "moshi": {**LLAMA, "ffn": "ffn_dim"},
    "mra": BERT,
    "mvp": BART,
    "nllb-moe": {**BART, **EXPERTS, "expert_ffn": "decoder_ffn_dim", "router_bias": "router_bias"},
    "nystromformer": BERT,
    "openai-gpt": {name: names for name, names in GPT2.items() if name != "ffn"},
    "pegasus_x": BART,
    "prophetnet": PROPHETNET,
    "rembert": {**BERT, "embedding_width": "input_embedding_size"},
    "roc_bert": BERT,
    "roformer": BERT,
    "switch_transformers": {**T5, **EXPERTS, "expert_ffn": "d_ff", "router_bias": "router_bias"},
    "tapas": {name: names for name, names in BERT.items() if name != "token_types"},
    "trocr": TROCR,
    "umt5": T5,
    "xglm": XGLM,
    "xlm": XLM,
    "xlnet": XLNET,
    "xmod": BERT,
    "yoso": BERT,
}
