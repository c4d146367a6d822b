"""Billing through the public interface: prices, jobs, usage, statements, exports, the ledger, as `fathom bill` has them."""
import csv
import hashlib
import io
import json
import re

import pytest

from network import wait_until

# The columns that FOCUS 1.2 demands of every row, and the two that 1.3 adds.
MANDATORY = """BilledCost BillingAccountId BillingAccountName BillingCurrency BillingPeriodEnd BillingPeriodStart
ChargeCategory ChargeClass ChargeDescription ChargePeriodEnd ChargePeriodStart ContractedCost EffectiveCost
InvoiceIssuerName ListCost PricingQuantity PricingUnit ProviderName PublisherName ServiceCategory ServiceName""".split()
MANDATORY_1_3 = ["HostProviderName", "ServiceProviderName"]
MAY_BE_NULL = {"ChargeClass"}
CATEGORIES = {"Compute", "Networking", "Storage"}
MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z")
DECIMAL = re.compile(r"-?\d+(\.\d+)?")
SACCT_FIELDS = """JobID JobIDRaw Cluster Partition QOS Account Group GID User UID Submit Eligible Start End Elapsed ExitCode
State NNodes NCPUS ReqCPUS ReqMem ReqTRES AllocTRES Timelimit NodeList JobName""".split()
BOOK = {"currency": "EUR", "minimum_charge": "0.001",
        "entries": [{"center": "*", "unit_type": "*", "per_score_hour": "36"}],
        "discounts": [{"project": "default", "percent": "10"}],
        "budgets": [{"project": "default", "per_month": "1000000", "action": "refuse"}]}


@pytest.fixture(scope="module")
def bill(network, tmp_path_factory):
    """Two jobs that ran, and are billed."""
    book = tmp_path_factory.mktemp("prices") / "prices.json"
    book.write_text(json.dumps(BOOK))
    network.cli("price", "set", str(book))
    jobs = [network.submit(command=["sleep", "0.2"])["id"] for _ in range(2)]
    for job in jobs:
        assert network.wait_job(job)["state"] == "succeeded"
    wait_until(lambda: all(cli_json(network, "bill", "usage", "--job", job)["items"] for job in jobs), 120)
    wait_until(lambda: all(cost_of(network, job)["is_final"] for job in jobs), 120)
    return network, jobs


def cli_json(network, *arguments, expect=0):
    return json.loads(network.cli(*arguments, "--output", "json", expect=expect))


def cost_of(network, job):
    return network.rest.get(f"/jobs/{job}/cost")


def period_of(network, job):
    return cli_json(network, "bill", "usage", "--job", job)["items"][0]["until"][:7]


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_a_job_is_charged_and_its_price_can_be_followed_back(bill):
    network, jobs = bill
    usage = cli_json(network, "bill", "usage", "--job", jobs[0])["items"][0]
    assert usage["kind"] == "compute" and usage["paid_by"] == "project" and usage["attempt_id"].startswith("att_")
    cost = cost_of(network, jobs[0])
    assert float(cost["billed"][0]["amount"]) > 0
    charge = cost["charges"][0]
    assert charge["meter"] == "score_hours" and charge["score_evidence_id"] == usage["score_evidence_id"]
    evidence = network.rest.get(f"/score-evidence/{charge['score_evidence_id']}")
    assert evidence["score"] == pytest.approx(charge["score"], abs=0.001)
    assert evidence["is_assumed"] == (evidence["parts"] == [])
    shown = network.cli("job", "show", jobs[0])
    assert re.search(r"Cost: +[0-9.]+ EUR", shown)


def test_a_statement_adds_up_in_every_form(bill):
    network, jobs = bill
    period = period_of(network, jobs[0])
    statement = cli_json(network, "bill", "statement", "--project", "default", "--period", period)
    total = statement["totals"][0]
    assert sum(float(line["billed_cost"]) for line in statement["lines"]) == pytest.approx(float(total["billed_cost"]))
    assert float(total["billed_cost"]) == pytest.approx(0.9 * float(total["list_cost"]), rel=0.01)
    text = network.cli("bill", "statement", "--project", "default", "--period", period, "--format", "csv")
    assert rows_of(text)[-1]["billed_cost"] == total["billed_cost"]
    page = network.cli("bill", "statement", "--project", "default", "--period", period, "--format", "html")
    assert page.startswith("<!doctype html>") and total["billed_cost"] in page and "http" not in page
    center = statement["lines"][0]["center"]
    payable = cli_json(network, "bill", "statement", "--center", center, "--period", period)
    assert payable["totals"][0]["amount"] == payable["totals"][0]["list_cost"]


@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_focus_rows_keep_to_the_specification(bill, version):
    network, jobs = bill
    text = network.cli("bill", "export", "--format", "focus", "--focus-version", version)
    rows = rows_of(text)
    mandatory = MANDATORY + (MANDATORY_1_3 if version == "1.3" else [])
    assert rows and set(mandatory) <= set(rows[0])
    names = text.splitlines()[0].split(",")
    own = [name for name in names if name.startswith("x_")]
    assert names[-len(own):] == own and all(re.fullmatch(r"x_[A-Z][A-Za-z]*", name) for name in own)
    for row in rows:
        assert None not in row and all(row[name] for name in mandatory if name not in MAY_BE_NULL), row
        for name in ("BillingPeriodStart", "BillingPeriodEnd", "ChargePeriodStart", "ChargePeriodEnd"):
            assert MOMENT.fullmatch(row[name])
        assert row["ChargePeriodStart"] < row["ChargePeriodEnd"]
        assert row["BillingPeriodStart"].endswith("-01T00:00:00Z") and row["BillingPeriodEnd"].endswith("-01T00:00:00Z")
        for name in ("BilledCost", "EffectiveCost", "ListCost", "ContractedCost", "PricingQuantity", "ListUnitPrice",
                     "ContractedUnitPrice", "ConsumedQuantity"):
            assert DECIMAL.fullmatch(row[name]), (name, row[name])
        assert float(row["PricingQuantity"]) * float(row["ListUnitPrice"]) == pytest.approx(float(row["ListCost"]), abs=2e-6)
        assert float(row["PricingQuantity"]) * float(row["ContractedUnitPrice"]) == \
            pytest.approx(float(row["ContractedCost"]), abs=2e-6)
        assert row["ChargeCategory"] == "Usage" and row["ChargeClass"] in ("", "Correction")
        assert row["ServiceCategory"] in CATEGORIES and row["PricingCategory"] == "Standard"
        assert re.fullmatch(r"[A-Z]{3}", row["BillingCurrency"])
        assert row["CapacityReservationStatus"] in ("", "Unused")
        json.loads(row["SkuPriceDetails"])
        assert (row["SubAccountId"] == "") == (row["x_PaidBy"] == "network")
    assert len({(row["ServiceName"], row["ServiceCategory"]) for row in rows}) == len({row["ServiceName"] for row in rows})
    mine = [row for row in rows if row["ResourceId"] == jobs[0]]
    assert sum(float(row["BilledCost"]) for row in mine) == \
        pytest.approx(float(cost_of(network, jobs[0])["billed"][0]["amount"]))


def test_exports_are_the_same_to_the_byte(bill, tmp_path):
    network, jobs = bill
    answer = network.rest.call("GET", "/exports/focus")
    last = answer.headers["X-Fathom-Last-Entry"]
    again = network.rest.call("GET", f"/exports/focus?last_entry={last}")
    assert again.content == answer.content
    manifest = cli_json(network, "bill", "export", "--format", "jsonl", "--period", period_of(network, jobs[0]),
                                   "--folder", str(tmp_path))
    content = (tmp_path / manifest["file"]).read_bytes()
    assert hashlib.sha256(content).hexdigest() == manifest["sha256"] and len(content) == manifest["bytes"]
    assert json.loads((tmp_path / (manifest["file"] + ".manifest.json")).read_text()) == manifest
    assert {json.loads(line)["job_id"] for line in content.splitlines()} >= set(jobs)


def apel_records(text):
    head, *lines = text.splitlines()
    records, record = [], {}
    for line in lines:
        if line == "%%":
            records.append(record)
            record = {}
        else:
            name, value = line.split(": ", 1)
            record[name] = value
    assert not record, "the last record is not ended"
    return head, records


def test_apel_records_keep_to_the_specification(bill):
    network, jobs = bill
    head, records = apel_records(network.cli("bill", "export", "--format", "apel", "--service-level-type", "hepscore23"))
    assert head == "APEL-individual-job-message: v0.3"
    for record in records:
        assert {"Site", "LocalJobId", "WallDuration", "CpuDuration", "StartTime", "EndTime"} <= set(record)
        assert all(record[name].isdigit() for name in ("WallDuration", "CpuDuration", "StartTime", "EndTime", "Processors"))
        assert int(record["StartTime"]) <= int(record["EndTime"])
        assert record["ServiceLevelType"] == "hepscore23" and float(record["ServiceLevel"]) > 0
    attempts = {cli_json(network, "bill", "usage", "--job", job)["items"][0]["attempt_id"] for job in jobs}
    assert attempts <= {record["LocalJobId"] for record in records}
    head, summaries = apel_records(network.cli("bill", "export", "--format", "apel-summary"))
    assert head == "APEL-summary-job-message: v0.3"
    assert sum(int(one["NumberOfJobs"]) for one in summaries) == len(records)
    for one in summaries:
        assert {"Site", "Month", "Year", "WallDuration", "CpuDuration", "NumberOfJobs"} <= set(one)
        assert 1 <= int(one["Month"]) <= 12 and int(one["EarliestEndTime"]) <= int(one["LatestEndTime"])
        assert "ServiceLevelType" not in one


def test_sacct_lines_and_the_reconciliation_with_them(bill, tmp_path):
    network, jobs = bill
    lines = network.cli("bill", "export", "--format", "sacct").splitlines()
    rows = [dict(zip(SACCT_FIELDS, line.split("|"), strict=True)) for line in lines]
    for row in rows:
        assert row["JobIDRaw"].isdigit() and row["State"] in ("COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "NODE_FAIL",
                                                                "OUT_OF_MEMORY", "PREEMPTED")
        assert re.fullmatch(r"(\d+-)?\d{2}:\d{2}:\d{2}", row["Elapsed"]) and re.fullmatch(r"\d+:\d+", row["ExitCode"])
        assert all(re.fullmatch(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}", row[name]) for name in ("Submit", "Start", "End"))
        assert row["AllocTRES"].startswith("cpu=")
    usage = cli_json(network, "bill", "usage", "--job", jobs[0])["items"][0]
    theirs = tmp_path / "theirs"
    own = [row for row in rows if row["Cluster"] == usage["center"]]
    theirs.write_text("JobName|Elapsed\n" + "".join(f"{row['JobName']}|{row['Elapsed']}\n" for row in own))
    span = ["--center", usage["center"], "--from", "2020-01-01", "--until", "2040-01-01"]
    report = cli_json(network, "bill", "reconcile", str(theirs), *span)
    assert report["differences"] == [] and report["attempts"] >= len(own)
    theirs.write_text("JobName|ElapsedRaw\n" + "".join(f"{row['JobName']}|100000\n" for row in own[:1]))
    report = cli_json(network, "bill", "reconcile", str(theirs), *span, expect=1)
    assert own[0]["JobName"] in {one["attempt_id"] for one in report["differences"]}


def test_the_ledger_can_be_checked_by_both_sides(bill):
    network, _ = bill
    check = cli_json(network, "bill", "verify")
    assert check["good"] and check["faults"] == [] and check["computed_here"]["fault"] is None
    assert check["computed_here"]["entries"] >= check["entries"] > 0
    assert "Nothing is missing, doubled or changed." in network.cli("bill", "verify")


def test_other_prices_can_be_tried_on_what_was_used(bill, tmp_path):
    network, _ = bill
    dearer = tmp_path / "dearer.json"
    dearer.write_text(json.dumps({**BOOK, "discounts": [], "entries": [
        {"center": "*", "unit_type": "*", "per_score_hour": "72"}]}))
    trial = cli_json(network, "price", "try", str(dearer), "--from", "2020-01-01T00:00:00Z")
    mine = next(one for one in trial["projects"] if one["project"] == "default")
    assert float(mine["trial_cost"]) == pytest.approx(float(mine["billed"]["EUR"]) * 2 / 0.9, rel=0.05)


def test_a_month_that_runs_is_not_closed(bill):
    network, jobs = bill
    period = period_of(network, jobs[0])
    assert cli_json(network, "bill", "periods")["items"][0]["state"] == "open"
    network.cli("bill", "close", period, expect=1)


def test_killed_servers_lose_and_double_nothing(bill):
    network, _ = bill
    jobs = []
    for _ in range(3):
        jobs += [network.submit(command=["true"])["id"] for _ in range(4)]
        wait_until(lambda: network.job(jobs[-4])["state"] == "succeeded", 120)
        network.server.process.kill()  # somewhere between the first end and the last posting
        network.server.start()
    for job in jobs:
        assert network.wait_job(job)["state"] == "succeeded"
        wait_until(lambda: cost_of(network, job)["is_final"], 120)  # noqa: B023
        usage = cli_json(network, "bill", "usage", "--job", job)["items"]
        assert len(usage) == 1
        assert len({charge["entry"] for charge in cost_of(network, job)["charges"]}) == 1
    assert cli_json(network, "bill", "verify")["good"]


def test_a_budget_that_is_used_up_refuses_jobs(bill, tmp_path):
    network, _ = bill
    strict = tmp_path / "strict.json"
    strict.write_text(json.dumps({**BOOK, "budgets": [{"project": "default", "per_month": "0.0001", "action": "refuse"}]}))
    network.cli("price", "set", str(strict))
    try:
        def is_refused():
            return network.rest.call("POST", "/jobs", json={"command": ["true"]}).status_code == 422
        wait_until(is_refused, 120)
        assert "budget" in network.rest.call("POST", "/jobs", json={"command": ["true"]}).text
    finally:
        book = tmp_path / "book.json"
        book.write_text(json.dumps(BOOK))
        network.cli("price", "set", str(book))
