"""The names of config fields of types from before the common layout: early GPTs and BERTs. Our field -> theirs, by model_type."""

from calc.models.huggingface.field_groups import BERT, DROPOUTS, GPT2, PROBABILITIES, SIZES

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
FIELDS = {
    "bert-generation": {name: names for name, names in BERT.items() if name != "token_types"},
    "big_bird": {**BERT, "qkv_bias": "use_bias"},
    "biogpt": {**SIZES, **PROBABILITIES},
    "ctrl": {**GPT2, "ffn": "dff"},
    "flaubert": XLM,
    "gpt_neo": GPT_NEO,
    "gpt_neox_japanese": {**{name: names for name, names in SIZES.items() if name != "ffn"}, **DROPOUTS},
    "openai-gpt": GPT2,
    "roc_bert": BERT,
    "roformer": BERT,
    "xglm": XGLM,
    "xlm": XLM,
    "xlnet": XLNET,
    "xmod": BERT,
}
