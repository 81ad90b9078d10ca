"""Number formats are entries of one catalog: their traits there decide where each is used."""

import pytest
from examples import catalogs

from calc.models.huggingface.stored_forms import FORMS, stored_precision
from calc.say.model_entry import entry_text
from calc.scenarios.precision_traits import DEFAULT_PRECISIONS, WITHOUT_BF16, tried_for

STORED = {
    "awq-4bit": {"quant_method": "awq", "bits": 4},
    "fp8": {"quant_method": "fp8"},
    "gptq-8bit": {"quant_method": "gptq", "bits": 8},
    "int8": {"quant_method": "bitsandbytes", "load_in_8bit": True},
    "int4": {"quant_method": "bitsandbytes", "load_in_4bit": True},
    "nf4-dq": {
        "quant_method": "bitsandbytes",
        "bnb_4bit_quant_type": "nf4",
        "bnb_4bit_use_double_quant": True,
    },
    "nvfp4": {"quant_algo": "NVFP4"},
    "mxfp4": {
        "quant_method": "compressed-tensors",
        "config_groups": {"0": {"weights": {"type": "float", "num_bits": 4, "group_size": 32}}},
    },
    "int4-experts": {
        "quant_method": "compressed-tensors",
        "config_groups": {"0": {"weights": {"type": "int", "num_bits": 4, "group_size": 32}}},
        "ignore": ["re:.*self_attn.*"],
    },
}


def test_a_form_of_stored_weights_belongs_to_one_precision():
    forms = [form for names in catalogs().precisions["stored_as"] for form in names]
    assert len(forms) == len(set(forms))
    methods = {*FORMS, "compressed", "fp8", "fbgemm_fp8", "mxfp4"}
    assert {form.split(" ")[0] for form in forms} <= methods


@pytest.mark.parametrize("precision", STORED)
def test_a_config_leads_to_the_precision_of_its_form(precision):
    assert stored_precision({"quantization_config": STORED[precision]}, catalogs()) == (
        precision,
        None,
    )


@pytest.mark.parametrize(
    "stored",
    [
        "awq",
        {"quant_method": "awq", "bits": 3},
        {"quant_method": "of tomorrow"},
        {"quant_method": "compressed-tensors", "config_groups": {}},
    ],
)
def test_an_unknown_form_is_said(stored):
    precision, remark = stored_precision({"quantization_config": stored}, catalogs())
    assert precision == ""
    assert "is not covered" in entry_text(remark)


def test_the_formats_that_traits_name_are_there_and_fit_their_work():
    table = catalogs().precisions
    assert {*DEFAULT_PRECISIONS, *WITHOUT_BF16, *WITHOUT_BF16.values()} <= set(table.index)
    assert table.loc[list(WITHOUT_BF16), "computes_bf16"].eq(1).all()
    assert table.loc[list(WITHOUT_BF16.values()), "computes_bf16"].eq(0).all()
    for name in (*tried_for("full"), *tried_for("full in 8 bits")):
        assert table.at[name, "trains"]
    for name in (*tried_for("lora"), *tried_for("qlora")):
        assert table.at[name, "adapts"]
    for bits, most_bytes in ((16, 2), (8, 1), (4, 0.75)):
        for name in tried_for(f"serving in {bits} bits"):
            assert table.at[name, "serves"]
            assert most_bytes / 2 < table.at[name, "matrix_bytes_each"] <= most_bytes
