"""Files of bills: the same lines of every format, what counts as what, and bad files."""

import gzip
import io
import json

import bills
import pandas as pd
import pyarrow as pa
import pytest
from bills import as_csv, as_parquet, cur, focus, legacy_parquet, line
from hypothesis import given
from hypothesis import strategies as st

from calc.files.bills import bill_reader
from calc.files.bills.bill_reader import bill_of
from calc.files.bills.formats import tag_of, usage_of
from calc.files.bills.small import typed_amount
from calc.files.door import REFUSALS
from calc.plan.bill_lines import KEYS, SUMS, joined_bills, within
from calc.scenarios.problems import TableError

LINES = [
    line(1, 55.04, 1.0, tags={"team": "nlp", "plan": "chat"}),
    line(1, 55.04, 1.0, tags={"team": "nlp", "plan": "chat"}),
    line(2, 20.0, 1.0, usage="SpotUsage", tags={"team": "vision"}),
    line(3, 55.04, 2.0, usage="UnusedBox"),
    line(3, 12.5, 100.0, instance="", usage="EBS:VolumeUsage.gp3", tags={"team": "nlp"}),
    line(4, 60.0, 1.0, kind="SavingsPlanCoveredUsage", paid=30.0),
    line(5, 9.0, 1.0, kind="Tax", instance="", usage="Tax"),
    line(6, -5.0, 1.0, kind="Credit", instance="", usage="Credits"),
]
SUMMED = {  # counts_as, market -> usd, hours
    ("machine", "on-demand"): (110.08, 2.0),
    ("machine", "spot"): (20.0, 1.0),
    ("machine", "commitment"): (30.0, 1.0),
    ("idle", "on-demand"): (55.04, 2.0),
    ("other", ""): (12.5, 0.0),
    ("tax", ""): (9.0, 0.0),
    ("credit", ""): (-5.0, 0.0),
}
FILES = {
    "CUR 2.0": as_csv(cur(LINES)),
    "CUR 2.0, gzip": as_csv(cur(LINES), packed=True),
    "CUR 2.0, Parquet": as_parquet(cur(LINES), tags="resource_tags"),
    "legacy CUR": as_csv(cur(LINES, bills.LEGACY)),
    "legacy CUR, Parquet": as_parquet(legacy_parquet(LINES)),
    "FOCUS 1.2": as_csv(focus(LINES)),
    "FOCUS 1.1": as_csv(focus(LINES, "1.1")),
    "FOCUS 1.0": as_csv(focus(LINES, "1.0")),
    "FOCUS 1.0, Parquet": as_parquet(focus(LINES, "1.0"), tags="Tags"),
    "FOCUS 1.2, Parquet": as_parquet(focus(LINES), tags="Tags"),
}


def sums(bill):
    table = bill.lines.groupby(["counts_as", "market"])[["usd", "instance_hours"]].sum()
    return {key: (pytest.approx(row.usd), row.instance_hours) for key, row in table.iterrows()}


@pytest.mark.parametrize("name", FILES)
def test_every_format_has_the_same_lines(name):
    bill = bill_of(FILES[name], name)
    assert sums(bill) == SUMMED
    assert (bill.lines_read, bill.period_starts, bill.period_ends) == (
        len(LINES),
        "2026-11-01",
        "2026-11-30",
    )
    chat = bill.lines[bill.lines["plan"] == "chat"]
    assert chat[["day", "team", "instance", "region"]].values.tolist() == [
        ["2026-11-01", "nlp", "p5.48xlarge", "us-east-1"]
    ]


def test_a_reservation_of_a_cur_is_paid_at_its_effective_cost_and_its_rest_is_idle():
    rows = cur([line(1, 0.0, 5.0, kind="DiscountedUsage", paid=7.5)])
    fee = cur([line(1, 100.0, 720.0, kind="RIFee", instance="", usage="HeavyUsage:p5.48xlarge")])
    fee[0] |= {
        "reservation_unused_amortized_upfront_fee_for_billing_period": 3.0,
        "reservation_unused_recurring_fee": 4.0,
    }
    assert sums(bill_of(as_csv(rows + fee), "f")) == {
        ("machine", "commitment"): (7.5, 5.0),
        ("idle", "on-demand"): (7.0, 0.0),
    }


def test_the_upfront_fee_of_a_reservation_is_counted_once():
    """In the effective cost of its hours; the fee of a subscription is a cost of its own."""
    upfront = cur([line(1, 9000.0, 1.0, kind="Fee", instance="", usage="HeavyUsage:p5.48xlarge")])
    upfront[0]["reservation_reservation_a_r_n"] = "arn:aws:ec2:us-east-1:1:reserved-instances/1"
    used = cur([line(1, 0.0, 5.0, kind="DiscountedUsage", paid=7.5)])
    support = cur([line(1, 29.0, 1.0, kind="Fee", instance="", usage="Support")])
    assert sums(bill_of(as_csv(used + upfront + support), "f")) == {
        ("machine", "commitment"): (7.5, 5.0),
        ("other", ""): (29.0, 0.0),
    }


def test_a_savings_plan_s_unused_commitment_is_idle_and_its_negation_nothing():
    fee = cur([line(1, 24.0, 1.0, kind="SavingsPlanRecurringFee", instance="", usage="Compute")])
    fee[0] |= {
        "savings_plan_total_commitment_to_date": 24.0,
        "savings_plan_used_commitment": 18.0,
    }
    negation = cur([line(1, -60.0, 1.0, kind="SavingsPlanNegation")])
    assert sums(bill_of(as_csv(fee + negation), "f"))["idle", ""] == (6.0, 0.0)
    assert bill_of(as_csv(fee + negation), "f").lines["usd"].sum() == pytest.approx(6.0)


@pytest.mark.parametrize(("is_net", "usd"), [(False, 90.0), (True, 88.0)])
def test_a_discount_is_counted_once(is_net, usd):
    """As a line of its own, or in the net cost where the report has one."""
    rows = cur([line(1, 100.0), line(1, -10.0, kind="EdpDiscount")])
    for row, net in zip(rows, (88.0, 0.0), strict=True) if is_net else ():
        row["line_item_net_unblended_cost"] = net
    assert bill_of(as_csv(rows), "f").lines["usd"].sum() == pytest.approx(usd)


def test_a_focus_export_of_another_generator_names_machines_in_its_details():
    rows = focus([line(1, 55.0, 2.0), line(1, 3.0, 9.0, instance="", usage="storage")])
    for row, details in zip(rows, ({"InstanceType": "p5.48xlarge"}, {}), strict=True):
        del row["x_UsageType"]
        row["SkuPriceDetails"] = json.dumps(details)
    bill = bill_of(as_csv(rows), "f")
    assert sums(bill) == {("machine", "on-demand"): (55.0, 2.0), ("other", ""): (3.0, 0.0)}
    for row in rows:
        del row["SkuPriceDetails"]
    assert sums(bill_of(as_csv(rows), "f")) == {("other", ""): (58.0, 0.0)}


COST_EXPLORER = b"""Instance Type,p5.48xlarge($),g6e.xlarge($),No Instance Type($),Total costs($)
Instance Type total,5504,300,12,5816
2026-10-01,4404,200,10,4614
2026-11-01,1100,100,2,1202
"""


def test_cost_explorer_by_instance_type_has_dollars_without_hours():
    bill = bill_of(COST_EXPLORER, "costs.csv")
    assert (bill.period_starts, bill.period_ends) == ("2026-10-01", "2026-11-30")
    table = bill.lines.groupby(["instance", "counts_as"])["usd"].sum().to_dict()
    assert table == {
        ("", "other"): 12,
        ("g6e.xlarge", "unsplit"): 300,
        ("p5.48xlarge", "unsplit"): 5504,
    }


def test_cost_explorer_by_tag_and_with_hours():
    tagged = b"team,nlp($),No tag key: team($),Total costs($)\n2026-11-02,10,3,13\n"
    assert bill_of(tagged, "f").lines.set_index("team")["usd"].to_dict() == {"": 3, "nlp": 10}
    hours = (
        b"Usage Type,BoxUsage:g6e.xlarge($),BoxUsage:g6e.xlarge(Hrs),Total costs($)\n"
        b"2026-11-02,18.61,10,18.61\n"
    )
    (row,) = bill_of(hours, "f").lines.to_dict("records")
    assert (row["instance"], row["market"], row["counts_as"]) == (
        "g6e.xlarge",
        "on-demand",
        "machine",
    )
    assert (row["usd"], row["instance_hours"]) == (18.61, 10)


def test_a_report_without_a_dimension_is_its_total():
    bill = bill_of(b"Service,Total costs($)\nService total,9\n2026-11-02,4\n2026-11-03,5\n", "f")
    assert bill.lines["usd"].sum() == 9


def test_typed_dollars_and_hours():
    bill = bill_of(b"plan,usd,hours,team,month\nchat,1500,700,nlp,2026-11\ntune,$90,,,\n", "f")
    lines = bill.lines.set_index("plan")
    assert lines["usd"].to_dict() == {"chat": 1500, "tune": 90}
    assert lines["wall_hours"].to_dict() == {"chat": 700, "tune": 0}
    assert lines["counts_as"].to_dict() == {"chat": "machine", "tune": "unsplit"}
    assert lines.loc["chat", "team"] == "nlp"
    assert typed_amount(5, 2, "chat").lines[["plan", "usd", "wall_hours"]].values.tolist() == [
        ["chat", 5, 2]
    ]


@pytest.mark.parametrize(
    ("usage_type", "expected"),
    [
        ("BoxUsage:p5.48xlarge", ("p5.48xlarge", "machine", "on-demand")),
        ("EUC1-SpotUsage:g6e.xlarge", ("g6e.xlarge", "machine", "spot")),
        ("USW2-UnusedBox:p4d.24xlarge", ("p4d.24xlarge", "idle", "on-demand")),
        ("USE1-Cluster:ml.p5.48xlarge", ("p5.48xlarge", "machine", "sagemaker-training")),
        ("USE1-Host:ml.g5.2xlarge", ("g5.2xlarge", "machine", "sagemaker-hosting")),
        ("USW2-Reservation:p4d.24xlarge", ("p4d.24xlarge", "other", "on-demand")),
        ("EBSOptimized:p5.48xlarge", ("", "", "")),
        ("USE1-Cluster:VolumeUsage.gp2", ("", "", "")),
        ("DataTransfer-Out-Bytes", ("", "", "")),
    ],
)
def test_usage_types(usage_type, expected):
    assert usage_of(usage_type) == expected


@pytest.mark.parametrize(
    ("key", "tag"),
    [
        ("user:Team", "team"),
        ("user_team", "team"),
        ("resourceTags/user:project", "project"),
        ("CostCenter", "project"),
        ("headroom:plan", "plan"),
        ("aws:createdBy", ""),
        ("steam", ""),
    ],
)
def test_tag_keys(key, tag):
    assert tag_of(key) == tag


BAD = {
    "is not a supported bill": b"a,b\n1,2\n",
    "is a plan and not a bill": b"model,usd\ngpt2,1\n",
    "ZIP archive": b"PK\x03\x04rest",
    "no other": as_csv(cur(LINES)).splitlines()[0] + b"\n",
    "is in EUR": as_csv(cur(LINES)).replace(b"USD", b"EUR"),
    "is not a date": as_csv(cur(LINES)).replace(b"2026-11-05T", b"yesterday"),
    "neither CSV in UTF-8 nor Parquet": b"\xff\xfe\x00\x01binary\n",
    "cannot be unpacked": gzip.compress(as_csv(cur(LINES)) * 50)[:-400],
    "cannot be read (Parquet": b"PAR1 and no more",
    "'twelve' in hours is not a number": b"day,usd,hours\n2026-11-01,3,x\n".replace(
        b"x", b"twelve"
    ),
    "whose cost is in 'reservation/EffectiveCost'": as_csv(
        [
            {name: cell for name, cell in row.items() if name != "reservation_effective_cost"}
            for row in cur([line(kind="DiscountedUsage")])
        ]
    ),
    "holds a number without end": as_csv(cur([line(usd="inf")])),
    "hours are -3, which is below 0": b"usd,hours\n1,-3\n",
    "no row that begins with a day": b"Service,EC2($),Total costs($)\nService total,1,1\n",
}


@pytest.mark.parametrize("words", BAD)
def test_a_bad_file_is_one_sentence(words):
    with pytest.raises(TableError) as error:
        bill_of(BAD[words], "bill.csv")
    sentence = str(error.value)
    assert words in sentence
    assert sentence.startswith("bill.csv")
    assert (sentence[-1], sentence.count("\n")) == (".", 0)


def test_a_number_that_is_none_names_its_column():
    content = as_csv(cur(LINES)).replace(b"12.5", b"lots")
    with pytest.raises(TableError, match="lots"):
        bill_of(content, "bill.csv")


@given(st.binary(max_size=400) | st.text(max_size=400).map(str.encode))
def test_anything_is_a_bill_or_one_sentence(content):
    try:
        columns = list(bill_of(content, "f").lines.columns)
    except REFUSALS as error:
        columns = [*KEYS, *SUMS] if str(error).count("\n") == 0 else [str(error)]
    assert columns == [*KEYS, *SUMS]


@given(st.lists(st.integers(1, 28), min_size=1, max_size=20))
def test_files_joined_and_split_by_day_have_the_same_sum(days):
    lines = [line(day, float(day)) for day in days]
    whole = bill_of(as_csv(cur(lines)), "f")
    halves = [within(whole, "", "2026-11-10"), within(whole, "2026-11-11", "")]
    assert joined_bills(halves).lines["usd"].sum() == pytest.approx(sum(map(float, days)))
    pd.testing.assert_frame_equal(joined_bills([whole]).lines, whole.lines)


def test_no_pattern_of_the_catalog_can_take_long():
    """A hostile usage type is not looked at."""
    assert usage_of("Train" * 100_000) == usage_of("BoxUsage:" + "a-" * 50_000) == ("", "", "")


def test_arrow_reads_a_file_without_python(tmp_path):
    """A thread that reads ahead through Python may abort a program that ends with an error."""
    file = tmp_path / "bill.csv"
    file.write_bytes(b"a,b\n1,2\n")
    with file.open("rb") as stream:
        for source in (stream, io.BytesIO(b"a,b\n1,2\n")):
            native = bill_reader._native(source)
            assert type(native) in (pa.OSFile, pa.BufferReader)
            assert native.read() == b"a,b\n1,2\n"
