"""Encoders of text that came after BERT: rotary positions, gated networks, windows, relative biases, blocks used again."""

from validation.simulate.dense import DROPOUT, FIELDS, GROUPS, PLAIN_SIZES, plain, real
from validation.simulate.families import WINDOW, Family
from validation.simulate.two_sided_models import BERT_FIELDS

BERT_PATHS = dict(max_position_embeddings=1031)
FULL = dict(layer_types=["full_attention"] * 3)
SLIDING = dict(layer_types=["sliding_attention"] * 3)
LARGE = real(1024, 16, 16, 64, 4096, batch=5, seq=512)
BASE = real(768, 12, 12, 64, 3072, batch=5, seq=512)


def masked(*names, **more):
    """A block of a masked language model."""
    return plain(*names, **(dict(source="masked") | more))


def angles(case):
    """Rotary angles of each sequence of the batch, a head wide."""
    return dict(rotary_head=case["head_dim"])


FAMILIES = (
    masked(
        "modernbert", "ModernBertConfig", "ModernBertForMaskedLM", BERT_FIELDS, dict(pad_token_id=0), types=("modernbert",),
        attentions=("sdpa", "sdpa-window-equal", "eager"), full=FULL, window=SLIDING | dict(local_attention=2 * WINDOW),
        real=real(1024, 16, 16, 64, 2624, batch=5, seq=544),
    ),
    plain(
        "modernbert_decoder", "ModernBertDecoderConfig", "ModernBertDecoderForCausalLM", BERT_FIELDS,
        dict(pad_token_id=0, eos_token_id=0, bos_token_id=0, cls_token_id=0, sep_token_id=0), types=("modernbert-decoder",),
        attentions=("sdpa", "sdpa-window-equal", "eager"), full=FULL, window=SLIDING | dict(local_attention=2 * WINDOW),
        sizes=(*PLAIN_SIZES, "rotary_head"), further=angles, real=real(1024, 16, 16, 64, 2624, batch=5, seq=544),
    ),
    Family(
        "eurobert", "EuroBertConfig", "EuroBertForMaskedLM", FIELDS, DROPOUT | dict(pad_token_id=0), source="masked", attentions=GROUPS,
        types=("eurobert",), real=real(768, 12, 12, 64, 3072),
    ),
    masked(
        "nomic_bert", "NomicBertConfig", "NomicBertForMaskedLM", BERT_FIELDS, BERT_PATHS, types=("nomic_bert",),
        paths=dict(blocks="nomic_bert.layers"), real=BASE,
    ),
    masked(
        "gte", "GteConfig", "GteForMaskedLM", BERT_FIELDS, BERT_PATHS | dict(attention_probs_dropout_prob=0.1), types=("gte",),
        paths=dict(blocks="gte.layers"), drops_elsewhere=True, real=BASE,
    ),
    masked(
        "jina_embeddings_v3", "JinaEmbeddingsV3Config", "JinaEmbeddingsV3ForMaskedLM", BERT_FIELDS, BERT_PATHS,
        types=("jina_embeddings_v3",), paths=dict(blocks="roberta.layers"), real=LARGE,
    ),
    masked(
        "mpnet", "MPNetConfig", "MPNetForMaskedLM", BERT_FIELDS, BERT_PATHS, types=("mpnet",), attentions=("eager",),
        paths=dict(blocks="mpnet.encoder.layer"), real=BASE,
    ),
    masked(
        "layoutlm", "LayoutLMConfig", "LayoutLMForMaskedLM", BERT_FIELDS, BERT_PATHS, types=("layoutlm",),
        paths=dict(blocks="layoutlm.encoder.layer"), real=BASE,
    ),
    masked(
        "albert", "AlbertConfig", "AlbertForMaskedLM", BERT_FIELDS | dict(embedding_size="hidden"),
        BERT_PATHS | dict(hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1, num_hidden_groups=3), types=("albert",),
        paths=dict(blocks="albert.encoder.albert_layer_groups"), real=LARGE,
    ),
)  # fmt: skip
