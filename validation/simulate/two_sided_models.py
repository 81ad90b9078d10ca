"""Encoders, encoder-decoders and image encoders."""

from validation.simulate.dense import PLAIN_SIZES, plain, real
from validation.simulate.families import EQUAL, GROUPED, Family

BERT_FIELDS = dict(hidden_size="hidden", num_attention_heads="heads", intermediate_size="ffn")
SIDES = tuple(dict(widths, kv_heads=widths["heads"], other=other) for widths, other in zip(GROUPED, (160, 96, 320), strict=True))
EQUAL_SIDES = tuple(dict(widths, other=other) for widths, other in zip(EQUAL, (160, 96, 320), strict=True))
T5_SIZES = ("hidden", "query", "ffn", "heads", "scores", "mask", "one", "shared_scores")
CROSSED = ("source_hidden", "source_key", "source_scores", "shared_source_scores")
SIDED_SIZES = (*PLAIN_SIZES, "source_hidden", "source_scores")
T5_PATHS = dict(encoder="encoder.block", decoder="decoder.block")
BART_PATHS = dict(encoder="model.encoder.layers", decoder="model.decoder.layers")
CLIP_PATHS = dict(vision="vision_model.encoder.layers", text="text_model.encoder.layers")


def crossed(case):
    """Sizes of what a decoder sees of the other side, per token of its own."""
    ratio = case["other"] / case["seq"]
    return dict(
        source_hidden=case["hidden"] * ratio,
        source_key=case["heads"] * case["head_dim"] * ratio,
        source_scores=case["heads"] * case["other"],
        shared_source_scores=case["heads"] * case["other"] / case["batch"],
        shared_scores=case["heads"] * case["seq"] / case["batch"],
    )


def relative(case):
    """DeBERTa's relative positions: 512 of them, projected to queries and keys."""
    return dict(relative_hidden=case["hidden"] * 512 / case["seq"], relative_heads=case["heads"] * 512)


def t5(id, stack, gated):
    fixed = dict(feed_forward_proj="gated-gelu") if gated else {}
    return Family(
        id, "T5Config", "T5ForConditionalGeneration",
        dict(d_model="hidden", num_heads="heads", d_kv="head_dim", d_ff="ffn"),
        fixed | dict(decoder_start_token_id=0, pad_token_id=0), paths=T5_PATHS, stack=stack, source="two_sides",
        types=("t5",) if stack == "encoder" else (), layers=("num_layers", "num_decoder_layers"), further=crossed,
        sizes=(*T5_SIZES, *CROSSED), widths=SIDES, equal=SIDES, drops_elsewhere=True,
        real=real(1024, 16, 16, 64, 2816, batch=3, seq=544) | dict(other=288),
    )  # fmt: skip


def bart(id, stack):
    return Family(
        id, "BartConfig", "BartForConditionalGeneration",
        dict(d_model="hidden", encoder_attention_heads="heads", decoder_attention_heads="heads",
             encoder_ffn_dim="ffn", decoder_ffn_dim="ffn"),
        dict(max_position_embeddings=1031, attention_dropout=0.1), paths=BART_PATHS, stack=stack, source="two_sides",
        types=("bart",) if stack == "encoder" else (), layers=("encoder_layers", "decoder_layers"), further=crossed,
        sizes=PLAIN_SIZES if stack == "encoder" else SIDED_SIZES, widths=EQUAL_SIDES, equal=EQUAL_SIDES,
        real=real(1024, 16, 16, 64, 4096, batch=3, seq=544) | dict(other=288),
    )  # fmt: skip


def whisper(id, stack):
    frames = "seq" if stack == "encoder" else "other"
    return Family(
        id, "WhisperConfig", "WhisperForConditionalGeneration",
        dict(d_model="hidden", encoder_attention_heads="heads", decoder_attention_heads="heads",
             encoder_ffn_dim="ffn", decoder_ffn_dim="ffn", max_source_positions=frames),
        dict(max_target_positions=1511, num_mel_bins=8, dropout=0.1, attention_dropout=0.1, pad_token_id=0,
             bos_token_id=0, eos_token_id=0, decoder_start_token_id=0),
        paths=BART_PATHS, stack=stack, source="sound", types=("whisper",) if stack == "encoder" else (),
        layers=("encoder_layers", "decoder_layers"), further=crossed,
        sizes=PLAIN_SIZES if stack == "encoder" else SIDED_SIZES, widths=EQUAL_SIDES, equal=EQUAL_SIDES,
        real=real(1280, 20, 20, 64, 5120, batch=3, seq=1500 if stack == "encoder" else 448)
        | dict(other=448 if stack == "encoder" else 1500),
    )  # fmt: skip


def pooled(case):
    """What is not of the measured encoder: CLIP's projected features, one row per text, and the image's states."""
    tiles = (case["image"] // case["patch"]) ** 2 + 1
    return dict(pooled=512 / case["seq"], other_hidden=case["hidden"] * tiles / case["seq"])


class TwoEncoders(Family):
    """CLIP: both encoders get the same widths, one of them is measured."""

    def arguments(self, values):
        image = {name: values.pop(name) for name in ("image_size", "patch_size")}
        tokens = {name: values.pop(name) for name in ("vocab_size", "eos_token_id", "max_position_embeddings")}
        return dict(text_config=values | tokens, vision_config=values | image)


def tiled(widths, images, beside=1):
    """Widths with the length that so many tiles in a square and a class token beside them make."""
    pairs = zip(widths, images, strict=True)
    return tuple(dict(one, seq=(image // 4) ** 2 + beside, image=image, patch=4) for one, image in pairs)


def clip(id, stack, **more):
    sizes = (*PLAIN_SIZES, "pooled", "other_hidden") if stack == "text" else PLAIN_SIZES
    return TwoEncoders(
        id, "CLIPConfig", "CLIPModel",
        dict(hidden_size="hidden", num_attention_heads="heads", intermediate_size="ffn", image_size="image",
             patch_size="patch"),
        dict(max_position_embeddings=512, eos_token_id=2), paths=CLIP_PATHS, stack=stack, source="images_and_texts",
        equal=EQUAL, sizes=sizes, further=pooled, types=("clip",) if stack == "vision" else (), **more,
    )  # fmt: skip


FAMILIES = (
    plain(
        "vit", "ViTConfig", "ViTForImageClassification",
        dict(hidden_size="hidden", num_attention_heads="heads", intermediate_size="ffn", image_size="image",
             patch_size="patch"),
        dict(hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1, num_labels=61), source="images",
        types=("vit",), paths=dict(blocks="vit.layers"), sizes=PLAIN_SIZES,
        widths=tiled(EQUAL, (32, 48, 64)), real=real(1024, 16, 16, 64, 4096, 17, 197) | dict(image=224, patch=16),
    ),
    clip(
        "clip_vision", "vision", widths=tiled(EQUAL, (32, 48, 64)),
        real=real(1024, 16, 16, 64, 4096, 17, 257) | dict(image=224, patch=14),
    ),
    clip(
        "clip_text", "text", widths=tuple(dict(widths, image=32, patch=4) for widths in EQUAL),
        real=real(768, 12, 12, 64, 3072, 17, 77) | dict(image=224, patch=14),
    ),
    plain(
        "bert", "BertConfig", "BertForMaskedLM", BERT_FIELDS, fixed=dict(max_position_embeddings=1031), source="masked",
        types=("bert", "roberta"), paths=dict(blocks="bert.encoder.layer"),
        real=real(1024, 16, 16, 64, 4096, batch=5, seq=512),
    ),
    plain(
        "distilbert", "DistilBertConfig", "DistilBertForMaskedLM",
        dict(dim="hidden", n_heads="heads", hidden_dim="ffn"), dict(max_position_embeddings=1031), source="masked",
        types=("distilbert",), layers=("n_layers",), paths=dict(blocks="distilbert.transformer.layer"),
        real=real(768, 12, 12, 64, 3072, batch=5, seq=512),
    ),
    plain(
        "deberta", "DebertaV2Config", "DebertaV2ForMaskedLM", BERT_FIELDS,
        dict(relative_attention=True, position_buckets=256, norm_rel_ebd="layer_norm", share_att_key=True,
             pos_att_type=["p2c", "c2p"], position_biased_input=False, type_vocab_size=0, max_relative_positions=-1,
             max_position_embeddings=1031),
        source="masked", attentions=("eager",), types=("deberta-v2",), paths=dict(blocks="deberta.encoder.layer"),
        further=relative, sizes=(*PLAIN_SIZES, "relative_hidden", "relative_heads"),
        real=real(768, 12, 12, 64, 3072, batch=5, seq=512),
    ),
    t5("t5_encoder", "encoder", False),
    t5("t5_decoder", "decoder", False),
    t5("t5_gated_encoder", "encoder", True),
    t5("t5_gated_decoder", "decoder", True),
    bart("bart_encoder", "encoder"),
    bart("bart_decoder", "decoder"),
    whisper("whisper_encoder", "encoder"),
    whisper("whisper_decoder", "decoder"),
)  # fmt: skip
