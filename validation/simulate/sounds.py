"""Encoders of sound: wav2vec 2.0's convolutions over the waveform, and its blocks with norms behind or in front."""

from validation.simulate.dense import PLAIN_SIZES, real
from validation.simulate.device import torch
from validation.simulate.families import EQUAL
from validation.simulate.images import Headless
from validation.simulate.two_sided_models import BERT_FIELDS

STRIDES = (64, 32, 16, 8, 4, 2, 1)  # frames that each convolution makes for one of the last
KERNELS = (0, 3, 3, 3, 3, 2, 2)  # of the convolution behind each, but for the last


def frames(seq):
    """Frames that each convolution makes where the last makes `seq`."""
    lengths = [seq]
    for kernel in reversed(KERNELS[1:]):
        lengths.insert(0, 2 * (lengths[0] - 1) + kernel)
    return lengths


class Sound(Headless):
    """A model of sound without a head."""

    def inputs(self, case, dtype):
        samples = 5 * (frames(case["seq"])[0] - 1) + 10
        return dict(input_values=torch.empty(case["batch"], samples, dtype=dtype, device="cuda"))

    def loss(self, model, given):
        return model(**given).last_hidden_state.sum()

    def prefill(self, model, given):
        return model(**given)


def stem_out(_case):
    """What the convolutions give, which the model holds on to."""
    return dict(stem_out=512)


class Stem(Sound):
    """The convolutions as a block of their own, as wide as one of them."""

    def stacks(self, model):
        return {"blocks": [torch.nn.Identity(), model.feature_extractor, model.feature_projection]}

    def measure(self, case):
        lengths = frames(case["seq"])
        rows = {f"stem_rows_{stride}": length / case["seq"] for stride, length in zip(STRIDES, lengths, strict=True)}
        wide = {name.replace("rows_", ""): 512 * each for name, each in rows.items()}
        samples = (5 * (lengths[0] - 1) + 10) / case["seq"]
        return wide | rows | dict(hidden=512, one=1, stem_sums=512 / case["seq"], stem_samples=samples)


def waves(id, kind, fixed, **more):
    """A block of wav2vec 2.0, or its convolutions."""
    fixed = fixed | dict(apply_spec_augment=False, layerdrop=0.0, num_conv_pos_embedding_groups=8)
    return kind(
        id, "Wav2Vec2Config", "Wav2Vec2Model", BERT_FIELDS, fixed, paths=dict(blocks="encoder.layers"), drops_elsewhere=True,
        sizes=(*PLAIN_SIZES, "stem_out"), further=stem_out, widths=EQUAL, equal=EQUAL,
        **(dict(real=real(768, 12, 12, 64, 3072, 5, 499)) | more),
    )  # fmt: skip


FAMILIES = (
    waves("wav2vec2", Sound, {}, types=("wav2vec2",)),
    waves("wav2vec2_stable", Sound, dict(do_stable_layer_norm=True), real=real(1024, 16, 16, 64, 4096, 5, 499)),
    waves("waveform", Stem, {}, attentions=("sdpa",)),
    waves("waveform_normed", Stem, dict(feat_extract_norm="layer", conv_bias=True), attentions=("sdpa",)),
)
