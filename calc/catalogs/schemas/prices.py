"""The classes of prices.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from msgspec import Meta

from calc.catalogs.schemas.kinds import (
    Count,
    Day,
    Entry,
    FilledMap,
    FilledSet,
    Positive,
    SourcedFile,
    SourceKeys,
    Text,
    hint,
)


class SageMakerRule(Entry, kw_only=True):
    """SageMaker prices derived from EC2 prices if none are published."""

    rule: Text
    xlarge_ratio: Positive
    g_ratio: Positive
    p_ratio: Positive
    types: FilledSet[str]


class OnDemand(Entry, kw_only=True):
    """The On-Demand price."""

    usd_per_hour: Annotated[
        Positive,
        hint(
            "USD per instance-hour, more than 0, for example 1.006; leave the market out where "
            "there is no price"
        ),
    ]
    basis: Literal["published", "derived", "assumed"]
    as_of: Day
    source: SourceKeys


class Spot(Entry, kw_only=True):
    """The Spot price over the zones of a region."""

    usd_per_hour: Annotated[
        Positive,
        hint(
            "USD per instance-hour, more than 0, for example 1.006; leave the market out where "
            "there is no price"
        ),
    ]
    low_usd_per_hour: Annotated[
        Positive | None,
        hint(
            "USD per instance-hour, more than 0, for example 1.006; leave the market out where "
            "there is no price"
        ),
    ] = None
    high_usd_per_hour: Annotated[
        Positive | None,
        hint(
            "USD per instance-hour, more than 0, for example 1.006; leave the market out where "
            "there is no price"
        ),
    ] = None
    zones: Annotated[Count | None, hint("zones seen")] = None
    basis: Literal["observed", "estimated"]
    as_of: Day
    source: SourceKeys


class SpotNewest(Entry, kw_only=True):
    """The newest Spot price."""

    usd_per_hour: Annotated[
        Positive,
        hint(
            "USD per instance-hour, more than 0, for example 1.006; leave the market out where "
            "there is no price"
        ),
    ]
    as_of: Day
    source: SourceKeys


class Interruption(Entry, kw_only=True):
    """The band of the Spot interruption rate."""

    band: Literal["<5%", "5-10%", "10-15%", "15-20%", ">20%"]
    as_of: Day
    source: SourceKeys


class CapacityBlock(Entry, kw_only=True):
    """The price of a capacity block."""

    usd_per_hour: Annotated[
        Positive,
        hint(
            "USD per instance-hour, more than 0, for example 1.006; leave the market out where "
            "there is no price"
        ),
    ]
    basis: Literal["published", "offered"]
    as_of: Day
    source: SourceKeys


class SageMakerTraining(Entry, kw_only=True):
    """The price of SageMaker training."""

    usd_per_hour: Annotated[
        Positive,
        hint(
            "USD per instance-hour, more than 0, for example 1.006; leave the market out where "
            "there is no price"
        ),
    ]
    basis: Literal["published"]
    as_of: Day
    source: SourceKeys


class Commitment(Entry, kw_only=True):
    """A price that a commitment of one or three years lowers."""

    usd_per_hour: Annotated[
        Positive, hint("effective USD per instance-hour, upfront spread over the term")
    ]
    basis: Literal["published"]
    as_of: Day
    source: SourceKeys


class InstancePrices(Entry, kw_only=True):
    """The prices of one instance type in one region, by market."""

    on_demand: OnDemand | None = None
    spot: Spot | None = None
    spot_newest: SpotNewest | None = None
    interruption: Interruption | None = None
    capacity_block: CapacityBlock | None = None
    sagemaker_training: SageMakerTraining | None = None
    sagemaker_hosting: SageMakerTraining | None = None
    compute_plan_1y_no_upfront: Annotated[
        Commitment | None,
        hint("a commitment by kind, years and payment, for example reserved_1y_no_upfront"),
    ] = None
    compute_plan_1y_partial_upfront: Annotated[
        Commitment | None,
        hint("a commitment by kind, years and payment, for example reserved_1y_no_upfront"),
    ] = None
    compute_plan_1y_all_upfront: Annotated[
        Commitment | None,
        hint("a commitment by kind, years and payment, for example reserved_1y_no_upfront"),
    ] = None
    compute_plan_3y_no_upfront: Annotated[
        Commitment | None,
        hint("a commitment by kind, years and payment, for example reserved_1y_no_upfront"),
    ] = None
    compute_plan_3y_partial_upfront: Annotated[
        Commitment | None,
        hint("a commitment by kind, years and payment, for example reserved_1y_no_upfront"),
    ] = None
    compute_plan_3y_all_upfront: Annotated[
        Commitment | None,
        hint("a commitment by kind, years and payment, for example reserved_1y_no_upfront"),
    ] = None
    instance_plan_1y_no_upfront: Annotated[
        Commitment | None,
        hint("a commitment by kind, years and payment, for example reserved_1y_no_upfront"),
    ] = None
    instance_plan_1y_partial_upfront: Annotated[
        Commitment | None,
        hint("a commitment by kind, years and payment, for example reserved_1y_no_upfront"),
    ] = None
    instance_plan_1y_all_upfront: Annotated[
        Commitment | None,
        hint("a commitment by kind, years and payment, for example reserved_1y_no_upfront"),
    ] = None
    instance_plan_3y_no_upfront: Annotated[
        Commitment | None,
        hint("a commitment by kind, years and payment, for example reserved_1y_no_upfront"),
    ] = None
    instance_plan_3y_partial_upfront: Annotated[
        Commitment | None,
        hint("a commitment by kind, years and payment, for example reserved_1y_no_upfront"),
    ] = None
    instance_plan_3y_all_upfront: Annotated[
        Commitment | None,
        hint("a commitment by kind, years and payment, for example reserved_1y_no_upfront"),
    ] = None
    reserved_1y_no_upfront: Annotated[
        Commitment | None,
        hint("a commitment by kind, years and payment, for example reserved_1y_no_upfront"),
    ] = None
    reserved_1y_partial_upfront: Annotated[
        Commitment | None,
        hint("a commitment by kind, years and payment, for example reserved_1y_no_upfront"),
    ] = None
    reserved_1y_all_upfront: Annotated[
        Commitment | None,
        hint("a commitment by kind, years and payment, for example reserved_1y_no_upfront"),
    ] = None
    reserved_3y_no_upfront: Annotated[
        Commitment | None,
        hint("a commitment by kind, years and payment, for example reserved_1y_no_upfront"),
    ] = None
    reserved_3y_partial_upfront: Annotated[
        Commitment | None,
        hint("a commitment by kind, years and payment, for example reserved_1y_no_upfront"),
    ] = None
    reserved_3y_all_upfront: Annotated[
        Commitment | None,
        hint("a commitment by kind, years and payment, for example reserved_1y_no_upfront"),
    ] = None


class File(SourcedFile, kw_only=True):
    """AWS prices by instance and region, USD per instance-hour."""

    regions: Annotated[
        FilledMap[Annotated[str, Meta(pattern=r"^[a-z]{2}(-[a-z]+)+-\d$")], Text],
        hint("region -> its name"),
    ]
    sagemaker: Annotated[
        SageMakerRule, hint("how ml.* prices that are not published follow from on demand")
    ]
    prices: FilledMap[str, FilledMap[str, InstancePrices]]
