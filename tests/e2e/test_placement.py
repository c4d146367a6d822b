"""Where jobs go, why, and what would change that: explanations that are true when they are acted upon."""
import datetime
import json
import uuid

import pytest

import openapi_check as check
from network import save_json, wait_until

DGEMM = {"id": "dgemm", "parameters": {"m": 512, "n": 512, "k": 512}}
FAST, SLOW = "beta/core-large", "alpha/core"


@pytest.fixture(scope="module")
def measured(network):
    """Both centers are measured and have a price: beta is several times faster, and far dearer."""
    for run in network.rest.post("/probe-runs", {"operators": [DGEMM]})["items"]:
        ended = wait_until(lambda: (lambda r: r if r["state"] != "queued" else None)(
            network.rest.get(f"/probe-runs/{run['id']}")), 120, "a probe run's end")
        assert ended["state"] == "succeeded", ended["error"]
    network.rest.post("/price-books", {"document": {"currency": "EUR", "entries": [
        {"center": "alpha", "unit_type": "*", "per_unit_hour": "0.01", "unit_power_w": 5},
        {"center": "beta", "unit_type": "*", "per_unit_hour": "5", "unit_power_w": 200}]}})
    wait_until(lambda: "cost" in preview(network)["decision"]["candidates"][0], 120, "prices in decisions")
    return network


def job(**fields):
    # It only says that it computes. With a type of its own nothing was learned of it, and since it fails nothing will be:
    # the probes of a type that was learned would be in the way of the next job.
    return {"type": f"placement/{uuid.uuid4()}", "command": ["/bin/false"], "operators": [{**DGEMM, "count": 20000}], "units": {"count": 1},
            "metering_wait_s": 0, **fields}


def preview(network, **fields):
    return network.rest.post("/placements:preview", job(**fields), expect=200)


def place_of(decision):
    if decision["winner"] is None:
        return None
    winner = decision["candidates"][decision["winner"]]
    return f"{winner['center']}/{winner['unit_type']}"


def placement(network, job_id, inputs=False):
    found = network.rest.get(f"/jobs/{job_id}/placement" + ("?inputs=true" if inputs else ""))
    assert not check.schema_errors({"$ref": "#/components/schemas/Placement"}, found)
    return found


def place_of_job(network, job_id):
    attempt = network.wait_job(job_id)["attempt"]
    return f"{attempt['center']}/{attempt['unit_type']}"


def test_what_would_change_a_choice_does_change_it(measured):
    found = preview(measured)["decision"]["counterfactuals"]
    texts = [one["text"] for one in found]
    cheaper = next(one for one in found if one["kind"] == "preference" and "the cheapest" in one["text"])
    assert f"{cheaper['center']}/{cheaper['unit_type']}" == SLOW, texts
    cheap = measured.submit(**job(prefer="cheapest"))["id"]
    assert place_of_job(measured, cheap) == SLOW, placement(measured, cheap)["decision"]

    by_price = preview(measured, prefer="cheapest")["decision"]
    price = next(one for one in by_price["counterfactuals"] if one["kind"] == "price")
    lower = {"center": price["center"], "unit_type": price["unit_type"], "per_unit_hour": f"{price['needed']:.6f}"}
    changed = preview(measured, prefer="cheapest", what_if={"prices": [lower]})
    assert place_of(by_price) == SLOW and place_of(changed["what_if_decision"]) == FAST and changed["changes_place"]


def test_a_job_that_waits_is_told_why_and_until_when(measured):
    sleeper = measured.submit(command=["/bin/sleep", "600"], units={"center": "beta"}, metering_wait_s=0)["id"]
    wait_until(lambda: measured.job(sleeper)["state"] == "running", 120, "the job that is in the way")
    waits = measured.submit(**job(units={"center": "beta", "count": 1}))["id"]
    wait_until(lambda: measured.job(waits)["waiting_reason"], 120, "the reason of the wait")
    found = placement(measured, waits, inputs=True)
    assert found["attempt_id"] is None and found["waiting"]["reasons"][0]["kind"] == "units", found["waiting"]
    start = found["waiting"]["expected_start"]
    assert start["low"] <= start["at"] <= start["high"]
    assert found["inputs"]["unit_types"]
    trace = found["decision"]["filter_trace"]
    assert trace["candidates"] == 2 and trace["left"] == 1 and trace["steps"][0]["filter"] == "policy"
    text = measured.cli("job", "explain", waits)
    assert "Why it waits" in text and "Expected start:" in text and "job asks for center beta" in text, text

    # The same question with free units: it would start at once.
    free = preview(measured, units={"center": "beta", "count": 1}, what_if={"free_centers": ["beta"]})
    assert not free["decision"]["can_start_now"] and free["what_if_decision"]["can_start_now"]
    measured.rest.call("POST", f"/jobs/{sleeper}:cancel")
    assert place_of_job(measured, waits) == FAST


def test_what_if_compares_two_decisions(measured, tmp_path):
    file = tmp_path / "job.json"
    save_json(file, job())
    assert "Why:" in measured.cli("place", file)
    text = measured.cli("place", file, "--without", "beta")
    assert text.startswith(f"It would go to {SLOW} instead of {FAST}."), text
    assert "NOW" in text and "WHAT-IF" in text
    stays = json.loads(measured.cli("--output", "json", "place", file, "--what-if", "--free", "alpha"))
    assert not stays["changes_place"]
    cheap = measured.cli("place", file, "--prefer", "cheapest", "--budget", "12.50EUR", "--count", "1")
    assert SLOW in cheap.splitlines()[0]
    save_json(file, job(operators=[{**DGEMM, "count": 2_000_000}]))  # hours, or minutes on what is yet to be built
    soon = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=60)).isoformat()
    assert "would complete" in measured.cli("place", file, "--deadline", soon, expect=6)


def test_every_fault_of_a_question_is_said_at_once(measured, tmp_path):
    what_if = {"prices": [{"center": "beta", "unit_type": "gpu", "per_unit_hour": "0.1"}],
               "exclude_centers": ["gamma"], "now": "2020-01-01T00:00:00Z"}
    answer = measured.rest.post("/placements:preview", job(what_if=what_if), expect=400)
    assert {error["field"] for error in answer["errors"]} == {
        "what_if.prices[0].unit_type", "what_if.exclude_centers[0]", "what_if.now"}
    assert "there are alpha, beta" in json.dumps(answer)
    negative = {"prices": [{"center": "beta", "unit_type": "*", "per_unit_hour": "-1"}], "surplus": 1}
    answer = measured.rest.post("/placements:preview", job(what_if=negative, surplus=2), expect=400)
    assert {error["field"] for error in answer["errors"]} == {
        "surplus", "what_if.surplus", "what_if.prices[0].per_unit_hour"}
    assert measured.rest.call("GET", "/jobs/job_none/placement?inputs=maybe").status_code in (400, 404)
    file = tmp_path / "job.json"
    save_json(file, job())
    measured.cli("place", file, "--what-if", expect=2)
    measured.cli("place", file, "--price", "beta=0.1", expect=2)
    measured.cli("place", file, "--budget", "12", expect=2)
    measured.cli("place", expect=2)


def test_a_stored_decision_comes_out_again(measured, tmp_path):
    job_id = measured.submit(**job())["id"]
    measured.wait_job(job_id)
    file = tmp_path / "placement.json"
    file.write_text(measured.cli("job", "explain", job_id, "--inputs"))
    assert "The same decision comes out." in measured.cli("place", "replay", file)
    changed = json.loads(file.read_text())
    fast = next(one for one in changed["inputs"]["unit_types"] if one["center"] == "beta")
    for one in fast["measured"]:
        one["median_s"] *= 1000
    file.write_text(json.dumps(changed))
    answer = json.loads(measured.cli("--output", "json", "place", "replay", file, expect=1))
    assert not answer["is_same"] and answer["differences"] == [f"winner: {FAST} was stored, {SLOW} came out"], answer
    file.write_text(json.dumps({"decision": {}}))
    measured.cli("place", "replay", file, expect=2)


def test_an_ended_job_is_explained(measured):
    job_id = measured.submit(**job(command=["/bin/true"]))["id"]
    assert place_of_job(measured, job_id) == FAST
    found = placement(measured, job_id)
    assert place_of(found["decision"]) == FAST and found["waiting"] is None and "inputs" not in found
    winner = found["decision"]["candidates"][0]
    assert winner["cost"]["currency"] == "EUR" and winner["energy_j"] > 0
    low, high = winner["expected_start"]["low_s"], winner["expected_start"]["high_s"]
    assert low <= winner["expected_start"]["wait_s"] <= high
    assert found["actual"]["run_s"] > 0 and found["actual"]["predicted_run_s"] > 0
    text = measured.cli("job", "explain", job_id)
    for part in ("has succeeded; it ran at " + FAST, "Why:", "Cost", "Candidates, best first", "What would change it",
                 "Evidence: what the probes measured", "Predicted against actual"):
        assert part in text, text
