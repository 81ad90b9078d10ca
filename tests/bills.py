"""Files of bills as AWS exports them, small ones made for the tests."""

import csv
import gzip
import io
import json

import pyarrow as pa
from pyarrow.parquet import write_table

DAY = "2026-11-{:02d}"
LEGACY = {
    "day": "lineItem/UsageStartDate",
    "kind": "lineItem/LineItemType",
    "usage_type": "lineItem/UsageType",
    "hours": "lineItem/UsageAmount",
    "usd": "lineItem/UnblendedCost",
    "currency": "lineItem/CurrencyCode",
    "instance": "product/instanceType",
    "region": "product/regionCode",
    "plan_cost": "savingsPlan/SavingsPlanEffectiveCost",
    "reserved_cost": "reservation/EffectiveCost",
    "starts": "bill/BillingPeriodStartDate",
    "ends": "bill/BillingPeriodEndDate",
}
CUR_2 = {
    "day": "line_item_usage_start_date",
    "kind": "line_item_line_item_type",
    "usage_type": "line_item_usage_type",
    "hours": "line_item_usage_amount",
    "usd": "line_item_unblended_cost",
    "currency": "line_item_currency_code",
    "instance": "product_instance_type",
    "region": "product_region_code",
    "plan_cost": "savings_plan_savings_plan_effective_cost",
    "reserved_cost": "reservation_effective_cost",
    "starts": "bill_billing_period_start_date",
    "ends": "bill_billing_period_end_date",
}
KINDS = {"Usage": "Usage", "Tax": "Tax", "Credit": "Credit", "SavingsPlanCoveredUsage": "Usage"}


def line(day=1, usd=1.0, hours=1.0, instance="p5.48xlarge", usage="BoxUsage", **more):
    """One line of a report: an hour of an instance unless said otherwise."""
    usual = {"kind": "Usage", "region": "us-east-1", "tags": {}, "paid": None}
    return {"day": day, "usd": usd, "hours": hours, "instance": instance, "usage": usage} | (
        usual | more
    )


def cur(lines, names=CUR_2, **more):
    """The lines as a Cost and Usage Report: rows of texts under the names of that format."""
    rows = []
    for one in lines:
        usage = f"{one['usage']}:{one['instance']}" if one["instance"] else one["usage"]
        cells = {
            "day": f"{DAY.format(one['day'])}T00:00:00Z",
            "kind": one["kind"],
            "usage_type": usage,
            "hours": one["hours"],
            "usd": one["usd"],
            "currency": "USD",
            "instance": one["instance"],
            "region": one["region"],
            "plan_cost": one["paid"] if one["kind"] == "SavingsPlanCoveredUsage" else "",
            "reserved_cost": one["paid"] if one["kind"] == "DiscountedUsage" else "",
            "starts": "2026-11-01T00:00:00Z",
            "ends": "2026-12-01T00:00:00Z",
        }
        row = {name: cells[field] for field, name in names.items()} | more
        if names is CUR_2:
            row["resource_tags"] = json.dumps(
                {f"user_{key}": value for key, value in one["tags"].items()}
            )
        else:
            row |= {f"resourceTags/user:{key}": value for key, value in one["tags"].items()}
        rows.append(row)
    return rows


def legacy_parquet(lines):
    """The lines as a legacy report for Athena: CUR 2.0's names, a column for each tag."""
    rows = []
    for row in cur(lines):
        tags = json.loads(row.pop("resource_tags"))
        rows.append(row | {f"resource_tags_{key}": value for key, value in tags.items()})
    names = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name, "") for name in names} for row in rows]


def focus(lines, version="1.2"):
    """The lines as a FOCUS export with AWS's columns; 1.0 has no status of reservations."""
    categories = {"SpotUsage": "Dynamic"}
    rows = []
    for one in lines:
        committed = one["kind"] == "SavingsPlanCoveredUsage"
        row = {
            "BilledCost": 0.0 if committed else one["usd"],
            "EffectiveCost": one["paid"] if committed else one["usd"],
            "ListCost": one["usd"],
            "BillingCurrency": "USD",
            "BillingPeriodStart": "2026-11-01 00:00:00",
            "BillingPeriodEnd": "2026-12-01 00:00:00",
            "ChargeCategory": KINDS.get(one["kind"], one["kind"]),
            "ChargePeriodStart": f"{DAY.format(one['day'])} 00:00:00",
            "ConsumedQuantity": one["hours"],
            "ConsumedUnit": "Hours",
            "PricingCategory": "Committed"
            if committed
            else categories.get(one["usage"], "Standard"),
            "RegionId": one["region"],
            "Tags": json.dumps({f"user:{key}": value for key, value in one["tags"].items()}),
            "x_UsageType": f"{one['usage']}:{one['instance']}" if one["instance"] else one["usage"],
        }
        if version != "1.0":
            row["CapacityReservationStatus"] = "Unused" if one["usage"] == "UnusedBox" else "NULL"
        rows.append(row)
    return rows


def as_csv(rows, packed=False):
    """Rows as the bytes of a CSV, gzip where `packed`."""
    text = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, names, restval="")
    writer.writeheader()
    writer.writerows(rows)
    content = text.getvalue().encode()
    return gzip.compress(content) if packed else content


def as_parquet(rows, tags=""):
    """Rows as the bytes of a Parquet file; the column `tags` is a map, as AWS writes it."""
    columns = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        if name == tags:
            maps = [list(json.loads(value).items()) for value in values]
            columns[name] = pa.array(maps, pa.map_(pa.string(), pa.string()))
        elif any(isinstance(value, float) for value in values):
            columns[name] = pa.array([value or None for value in values], pa.float64())
        elif name.lower().endswith(("start_date", "periodstart")):
            stamps = [value.replace("T", " ").removesuffix("Z") for value in values]
            columns[name] = pa.array(stamps, pa.string()).cast(pa.timestamp("ms"))
        else:
            columns[name] = pa.array([str(value) for value in values])
    sink = io.BytesIO()
    write_table(pa.table(columns), sink)
    return sink.getvalue()
