"""When probes run: by the clock, when a center asks, and never more than its budget allows (M10, M21)."""
import json
import subprocess

import pytest

from network import BIN, Network, agent_config, wait_until

SMALL = "dgemm:m=64;n=64;k=64"


@pytest.fixture(scope="module")
def network():
    with Network(settings=["--probe-on-change", "on"]) as net:
        # What a center is measured with must end within a probe's limit on a busy machine, too.
        net.add_agent("alpha", agent_config(cores="0", extra='[operators]\ncpu = ["dgemm", "fft1d", "sort"]'))
        yield net


def runs(network, cause):
    return [run for run in network.rest.items("/probe-runs") if run["cause"] == cause]


def budget(network):
    return network.center("alpha")["probe_budget"]


def test_a_center_that_joins_is_measured_without_being_asked(network):
    survey = wait_until(lambda: [r for r in runs(network, "catalog_change") if r["state"] != "queued"], 120,
                        "the full benchmark of a new center")
    assert [(run["state"], run["error"], run["created_by"]) for run in survey] == [("succeeded", None, "fathom")]
    assert network.center("alpha")["probe_requested_at"] is None
    used = budget(network)
    assert used["limit_s"] == pytest.approx(0.001 * 30 * 86400)
    assert 0 < used["used_s"] <= 90 and used["reserved_s"] == 0, used
    assert not runs(network, "schedule"), "what is fresh is not refreshed"


def test_a_center_asks_to_be_measured_again(network):
    before = {run["id"] for run in runs(network, "catalog_change")}
    outcome = subprocess.run([BIN / "fathom-agent", "request-probes", "--state-dir", network.agents[0].state_dir,
                              "--reason", "memory replaced"], capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stderr
    wait_until(lambda: [r for r in runs(network, "catalog_change")
                        if r["id"] not in before and r["state"] == "succeeded"], 120, "the probes that the center asked for")
    assert network.center("alpha")["probe_requested_at"] is None


def test_a_schedule_runs_and_shows_its_next_runs(network):
    shown = network.cli("probe", "schedule", "add", "often", "--cron", "@every 10", "--operators", SMALL)
    assert "Next runs" in shown and shown.count(" UTC") >= 5
    done = wait_until(lambda: [r for r in runs(network, "schedule") if r["state"] == "succeeded"], 120, "a scheduled run")
    schedule = json.loads(network.cli("--output", "json", "probe", "schedule", "show", "often"))
    assert done[-1]["created_by"] == schedule["id"] and schedule["last_error"] is None
    assert "often" in network.cli("probe", "schedule", "list")
    for gauge in ('fathom_probe_budget_limit_seconds{center="alpha"} 2592', 'fathom_probe_runs_queued{cause="schedule"}'):
        wait_until(lambda: gauge in network.rest.call("GET", "/metrics").text, 120, gauge)  # noqa: B023


def test_a_wrong_schedule_is_refused_with_every_fault(network):
    answer = network.rest.call("POST", "/probe-schedules", json={
        "name": "", "cron": "0 0 30 feb *", "order": {"selection": "user", "colour": 1}, "often": True})
    assert answer.status_code == 400
    assert {error["field"] for error in answer.json()["errors"]} == {
        "name", "cron", "order.unit_types", "order.colour", "often"}
    assert "never run" in answer.text
    network.cli("probe", "schedule", "add", "bad", "--cron", "61 * * * *", expect=2)
    network.cli("probe", "schedule", "show", "none-such", expect=5)


def test_the_budget_is_never_exceeded_and_says_the_way_out(network):
    network.cli("probe", "schedule", "change", "often", "--disable")
    wait_until(lambda: budget(network)["reserved_s"] == 0, 120, "the end of what is queued")
    # A probe may take its limit of 10 s and a minute to start; 60 s are left.
    share = (budget(network)["used_s"] + 60) / (30 * 86400)
    assert "share" in network.cli("center", "set", "alpha", "--probe-share", f"{share:.9f}")
    refused = network.rest.call("POST", "/probe-runs", json={"operators": [{"id": "fft1d"}]})
    assert refused.status_code == 422
    [reason] = refused.json()["errors"]
    assert reason["field"] == "alpha/core" and "fathom center set alpha --probe-share" in reason["detail"]
    network.cli("probe", "run", "--operators", SMALL, expect=6)

    network.cli("center", "set", "alpha", "--probe-share", "0")
    network.cli("probe", "schedule", "change", "often", "--enable")
    failed = wait_until(lambda: network.rest.get("/probe-schedules/often")["last_error"], 120, "the schedule's refusal")
    assert "takes no probes" in failed
    network.cli("probe", "schedule", "remove", "often")
    assert network.rest.call("GET", "/probe-schedules/often").status_code == 404


def test_without_budget_a_job_is_placed_on_what_is_known_and_says_so(network):
    network.cli("center", "set", "alpha", "--probe-share", "0")
    job = network.submit(name="needs dgemm", command=["/bin/true"], type="budgetless", metering_wait_s=600,
                         operators=[{"id": "dgemm", "parameters": {"m": 900, "n": 900, "k": 900}, "count": 1000}])
    assert network.wait_job(job["id"])["state"] == "succeeded"
    causes = [event["cause"] for event in network.rest.items(f"/jobs/{job['id']}/events")]
    assert any("takes no probes" in cause and "it is placed on what is known" in cause for cause in causes), causes
