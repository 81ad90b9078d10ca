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


UsdPerHour = Annotated[
    Positive,
    hint(
        "USD per instance-hour, more than 0, for example 1.006; leave the market out where there "
        "is no price"
    ),
]


class DatedFact(Entry, kw_only=True):
    """A fact that a source states on a day."""

    as_of: Day
    source: SourceKeys


class Price(DatedFact, kw_only=True):
    """A price of one market."""

    usd_per_hour: UsdPerHour


class OnDemand(Price, kw_only=True):
    """The On-Demand price."""

    basis: Literal["published", "derived", "assumed"]


class Spot(Price, kw_only=True):
    """The Spot price over the zones of a region."""

    low_usd_per_hour: UsdPerHour | None = None
    high_usd_per_hour: UsdPerHour | None = None
    zones: Annotated[Count | None, hint("zones seen")] = None
    basis: Literal["observed", "estimated"]


class SpotNewest(Price, kw_only=True):
    """The newest Spot price."""


class Interruption(DatedFact, kw_only=True):
    """The band of the Spot interruption rate."""

    band: Literal["<5%", "5-10%", "10-15%", "15-20%", ">20%"]


class CapacityBlock(Price, kw_only=True):
    """The price of a capacity block."""

    basis: Literal["published", "offered"]


class SageMakerTraining(Price, kw_only=True):
    """The price of SageMaker training."""

    basis: Literal["published"]


class Commitment(DatedFact, kw_only=True):
    """A price that a commitment of one or three years lowers."""

    usd_per_hour: Annotated[
        Positive, hint("effective USD per instance-hour, upfront spread over the term")
    ]
    basis: Literal["published"]


PriceOfTerm = Annotated[
    Commitment | None,
    hint("a commitment by kind, years and payment, for example reserved_1y_no_upfront"),
]


class InstancePrices(Entry, kw_only=True):
    """The prices of one instance type in one region, by market."""

    on_demand: OnDemand | None = None
    spot: Spot | None = None
    spot_newest: SpotNewest | None = None
    interruption: Interruption | None = None
    capacity_block: CapacityBlock | None = None
    sagemaker_training: SageMakerTraining | None = None
    sagemaker_hosting: SageMakerTraining | None = None
    compute_plan_1y_no_upfront: PriceOfTerm = None
    compute_plan_1y_partial_upfront: PriceOfTerm = None
    compute_plan_1y_all_upfront: PriceOfTerm = None
    compute_plan_3y_no_upfront: PriceOfTerm = None
    compute_plan_3y_partial_upfront: PriceOfTerm = None
    compute_plan_3y_all_upfront: PriceOfTerm = None
    instance_plan_1y_no_upfront: PriceOfTerm = None
    instance_plan_1y_partial_upfront: PriceOfTerm = None
    instance_plan_1y_all_upfront: PriceOfTerm = None
    instance_plan_3y_no_upfront: PriceOfTerm = None
    instance_plan_3y_partial_upfront: PriceOfTerm = None
    instance_plan_3y_all_upfront: PriceOfTerm = None
    reserved_1y_no_upfront: PriceOfTerm = None
    reserved_1y_partial_upfront: PriceOfTerm = None
    reserved_1y_all_upfront: PriceOfTerm = None
    reserved_3y_no_upfront: PriceOfTerm = None
    reserved_3y_partial_upfront: PriceOfTerm = None
    reserved_3y_all_upfront: PriceOfTerm = None


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
