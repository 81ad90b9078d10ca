"""Tables of models, cards and prices as people look them up."""

import pandas as pd
import streamlit as st

from views.elements import button
from views.session import job_state
from views.tables import NUMBER, TEXT, chosen_in, of_rows, show

TICK = st.column_config.CheckboxColumn
MODELS = "model_list"


def models(rows: pd.DataFrame) -> None:
    """Models with shape, size of their weights and coverage; one can go into the plan."""
    of_rows(MODELS, list(rows["id"]))
    show(
        rows,
        {
            "name": TEXT("Model", pinned=True, width="medium"),
            "billions": NUMBER("Parameters, billion", format="%,.4g"),
            "active_billions": NUMBER("Active, billion", format="%,.4g", help="Parameters that one token passes through."),
            "weights_gib": NUMBER("Weights in 16 bits, GiB", format="%,.4g", help="Parameters times 2 bytes, on all GPUs together."),
            "family": TEXT("Family"),
            "kind": TEXT("Kind"),
            "max_position": NUMBER("Context, tokens", format="localized"),
            "layers": NUMBER("Blocks", format="%d"),
            "hidden": NUMBER("Hidden size", format="localized"),
            "kv_heads": NUMBER("KV heads", format="%d", help="Attention heads whose keys and values are cached."),
            "estimated": TICK("Estimated", help="No: the kind of block is not modelled; the next column says what is missing."),
            "refused": TEXT("Why not", width="medium"),
            "id": TEXT("Id"),
            "source": TEXT("Source", width="large"),
        },
        "Models, by name",
        MODELS,
        height=560,
        on_select="rerun",
        selection_mode="single-row",
    )
    chosen = [rows.iloc[at] for at in chosen_in(MODELS) if at < len(rows)]
    named = chosen[0] if chosen and chosen[0]["estimated"] else None
    button(
        "Use in plan" if named is None else f"Use {named['name']} in plan",
        _use,
        named["id"] if named is not None else None,
        icon="input",
        disabled=named is None,
        help="Tick a model that is estimated.",
        key="use_model",
    )


def _use(model: str) -> None:
    """Callback: the job is of this model."""
    job_state.choose(model=model)


def cards(rows: pd.DataFrame) -> None:
    """Cards with memory, bandwidth and rate, and the instances that carry them."""
    show(
        rows,
        {
            "name": TEXT("Card", pinned=True, width="medium"),
            "memory_gib": NUMBER("Usable memory, GiB", format="%,.4g", help="As the driver reports it."),
            "bandwidth_gib": NUMBER("Bandwidth, GiB/s", format="localized", help="Of the card's own memory."),
            "bf16_pflops": NUMBER("16-bit PFLOP/s", format="%.3g", help="Dense."),
            "compute_capability": TEXT("Compute capability"),
            "supports_bf16": TICK("bf16"),
            "supports_fp8": TICK("fp8"),
            "supports_fp4": TICK("fp4"),
            "release_year": NUMBER("Year", format="%d"),
            "instances": TEXT("Rented as", width="large", help="AWS instance types; empty: AWS does not rent it."),
            "id": TEXT("Id"),
            "source": TEXT("Source", width="large"),
        },
        "Cards, those that AWS rents first",
        "cards_table",
        height=560,
    )


def prices(rows: pd.DataFrame) -> None:
    """Prices of a region with what they rest on and of when they are."""
    show(
        rows,
        {
            "instance": TEXT("Instance", pinned=True),
            "on_demand_usd_per_hour": NUMBER("On demand, USD/h", format="$%,.4f"),
            "on_demand_basis": TEXT("Is", help="published, derived (from another region's price) or assumed"),
            "on_demand_as_of": TEXT("Of"),
            "old": TICK("Check it", help="Older than 90 days."),
            "spot_usd_per_hour": NUMBER("Spot, USD/h", format="$%,.4f", help="Median over the zones."),
            "spot_low_usd_per_hour": NUMBER("Spot, lowest zone", format="$%,.4f"),
            "spot_high_usd_per_hour": NUMBER("Spot, highest zone", format="$%,.4f"),
            "spot_basis": TEXT("Spot is", help="observed, or estimated from the Spot Advisor's saving"),
            "spot_as_of": TEXT("Spot of"),
            "spot_old": TICK("Check spot", help="Older than 7 days."),
            "interruption_band": TEXT("Interrupted in a month", help="The Spot Advisor's band: how often AWS took such instances back."),
            "capacity_block_usd_per_hour": NUMBER("Capacity block, USD/h", format="$%,.4f"),
            "sagemaker_training_usd_per_hour": NUMBER("SageMaker training, USD/h", format="$%,.4f", help="ml.* of the type."),
            "sagemaker_training_basis": TEXT("SageMaker is", help="published, or derived from on demand by the ratio of published pairs"),
            "sagemaker_hosting_usd_per_hour": NUMBER("SageMaker hosting, USD/h", format="$%,.4f", help="ml.* of the type."),
            "commit_1y_usd_per_hour": NUMBER("1-year commitment, USD/h", format="$%,.4f"),
            "commit_3y_usd_per_hour": NUMBER("3-year commitment, USD/h", format="$%,.4f"),
            "on_demand_source": TEXT("Source", width="large"),
            "spot_source": TEXT("Source of spot", width="large"),
        },
        "Prices of every instance type in a region",
        "prices_table",
        height=560,
    )
