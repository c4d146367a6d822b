"""Which units run a probe and how many (M12, M13, M14, M18), and what becomes of a probe whose agent dies."""
import json
import os
import subprocess

import pytest

from network import BIN, Network, agent_config, wait_until
from processes import halted

TWO_TYPES = """cores = "{cores}"
[[unit_type]]
name = "all"
cores_per_unit = 1
unit_count = 1
[[unit_type]]
name = "dense"
cores_per_unit = 1
unit_count = 1
operators = ["dgemm", "sgemm"]
"""
SMALL = "dgemm:m=256;n=256;k=256"
ASKED = ("--ask", "--answer-wait-s", "30")  # at the longest, on a busy machine


@pytest.fixture(scope="module")
def network():
    """alpha: two units of one type; beta: two unit types of one unit, of which one offers only matrix products."""
    # Two heartbeats may be missed: a center that dies is missed soon, and none that a busy machine holds up.
    with Network(settings=["--suspect-after-s", "21", "--lost-after-s", "25"]) as net:
        cores = ",".join(str(core) for core in sorted(os.sched_getaffinity(0))[:2])
        net.add_agent("alpha", agent_config(cores=cores, unit_count=2))
        net.add_agent("beta", TWO_TYPES.format(cores=cores))
        yield net


def run(network, *options):
    answer = json.loads(network.cli("probe", "run", *options, "--wait", "--timeout-s", "240", "--output", "json"))
    return {(r["center"], r["unit_type"], r["unit_count"]): r for r in answer["items"]}, answer["left_out"]


def test_centers_that_are_asked_name_their_unit_types(network):
    runs, left_out = run(network, "--operators", "fft3d:n=32", *ASKED)
    assert set(runs) == {("alpha", "core", 1), ("beta", "all", 1)} and left_out == []
    assert {r["selection"] for r in runs.values()} == {"ask"}
    assert runs[("beta", "all", 1)]["able_unit_types"] == ["all"]
    runs, _ = run(network, "--operators", SMALL, *ASKED, "--centers", "beta")
    assert {key[1] for key in runs} == {"all", "dense"}


def test_a_center_that_does_not_answer_is_named_and_the_rest_is_measured(network):
    beta = next(agent for agent in network.agents if agent.name == "beta")
    with halted(beta.process.process.pid):
        runs, left_out = run(network, "--operators", "fft3d:n=24", "--ask", "--answer-wait-s", "12")
    assert {key[0] for key in runs} == {"alpha"}
    assert [place["place"] for place in left_out] == ["beta"]
    assert "did not answer" in left_out[0]["reason"] or "not connected" in left_out[0]["reason"]
    wait_until(lambda: network.center("beta")["state"] == "online", 120, "beta being back")


def test_several_counts_are_one_order_with_one_report(network):
    runs, _ = run(network, "--operators", SMALL, "--units", "alpha/core,beta/dense", "--counts", "1")
    orders = {r["order_id"] for r in runs.values()}
    assert set(runs) == {("alpha", "core", 1), ("beta", "dense", 1)} and len(orders) == 1
    order = orders.pop()
    report = network.rest.get(f"/probe-orders/{order}")
    assert [len(group["places"]) for group in report["comparison"]] == [2]
    assert report["comparison"][0]["places"][0]["ratio"] == 1
    places = report["comparison"][0]["places"]
    # How many count together, and which place is best by them, is for the machine to say.
    for place in places:
        together = place["together"]
        assert together["ci_low_s"] <= together["median_s"] <= together["ci_high_s"]
        counted = [network.rest.get(f"/probe-runs/{run_id}") for run_id in together["probe_run_ids"]]
        assert 1 <= len(counted) <= 8
        assert {(r["center"], r["unit_type"], r["unit_count"]) for r in counted} == {(place["center"], place["unit_type"], 1)}
    assert min(place["together"]["ratio"] for place in places) == 1 and any(place["together"]["is_tied"] for place in places)
    told = network.cli("probe", "compare", order)
    assert "alpha/core" in told and "beta/dense" in told and "best" in told and "RESULTS" in told and "THIS RUN" in told
    single = network.cli("probe", "compare", order, "--single")
    assert "alpha/core" in single and "best" in single and "RESULTS" not in single

    runs, left_out = run(network, "--operators", "dgemm:m=320;n=320;k=320", "--centers", "alpha", "--counts", "1,2,3")
    assert set(runs) == {("alpha", "core", 1), ("alpha", "core", 2)}
    assert left_out == [{"place": "alpha/core", "reason": "has 2 units, 3 are asked for"}]
    both = runs[("alpha", "core", 2)]
    assert both["units"] == [0, 1] and len(both["cpus"]) == 2 and both["result"]["unit_count"] == 2
    shown = network.cli("probe", "show", both["id"])
    assert "2 (0, 1)" in shown and "user" not in shown and "catalog" in shown
    task = network.cli("probe", "compare", "--task", both["probe_task_id"])
    assert "units: 1" in task and "units: 2" in task


def test_probes_of_one_host_run_one_after_the_other(network):
    runs, _ = run(network, "--operators", "dgemm:m=352;n=352;k=352")
    assert set(runs) == {("alpha", "core", 1), ("beta", "all", 1), ("beta", "dense", 1)}
    attempts = [network.rest.get(f"/jobs/{r['job_id']}")["attempt"] for r in runs.values()]
    # No probe has a unit while another one runs: until then jobs may have all units.
    spans = sorted((a["created_at"], a["ended_at"]) for a in attempts)
    assert all(before[1] <= after[0] for before, after in zip(spans, spans[1:])), spans


def test_counts_for_scaling_are_chosen(network):
    runs, _ = run(network, "--operators", "dgemm:m=384;n=384;k=384", "--units", "alpha/core", "--scaling")
    assert {key[2] for key in runs} == {1, 2} and {r["count_by"] for r in runs.values()} == {"scaling"}


def test_what_is_left_to_the_center_is_reported(network):
    runs, _ = run(network, "--operators", "dgemm:m=448;n=448;k=448", "--let-center-choose")
    by_center = {key[0]: r for key, r in runs.items()}
    alpha, beta = by_center["alpha"], by_center["beta"]
    assert alpha["count_by"] == "center" and alpha["unit_count"] == 2 and alpha["units"] == [0, 1]
    assert alpha["result"]["unit_count"] == 2
    assert beta["unit_count"] == 1 and sorted(beta["able_unit_types"]) == ["all", "dense"]
    wait_until(lambda: {t["units_in_use"] for t in network.rest.items("/unit-types")} == {0}, 120, "what was reserved being free again")


def test_the_network_knows_how_many_kinds_of_unit_serve_an_operator(network):
    by_operator = {o["operator_id"]: o for o in network.rest.items("/diversity")}
    assert by_operator["dgemm"]["unit_type_count"] == 3 and by_operator["dgemm"]["center_count"] == 2
    assert [t["center"] + "/" + t["name"] for t in by_operator["fft3d"]["unit_types"]] == ["alpha/core", "beta/all"]
    assert "beta/dense" in network.cli("operator", "diversity", "dgemm")


def test_a_center_asks_to_be_measured(network):
    alpha = network.agents[0]
    asked = subprocess.run([BIN / "fathom-agent", "request-probes", "--state-dir", alpha.state_dir, "--reason", "new memory"],
                           capture_output=True, text=True)
    assert asked.returncode == 0, asked.stderr
    wait_until(lambda: '"new memory"' in network.server.process.log(), 120, "the request in the server's log")


def test_a_probe_whose_agent_dies_is_marked_and_repeated_and_counts_once(network):
    alpha = network.agents[0]
    # One that takes long enough to be killed amid it.
    task = network.rest.post("/probe-tasks", {"document": {
        "name": "long", "repeats": 100, "min_sample_s": 0.2, "target_interval": 0, "limit_s": 100,
        "operators": [{"id": "dgemm", "parameters": {"m": 256, "n": 256, "k": 256}}]}})
    order = {"probe_task_id": task["id"], "force": True, "selection": "user", "unit_types": ["alpha/core"]}
    first = network.rest.post("/probe-runs", order)["items"][0]
    wait_until(lambda: network.rest.get(f"/probe-runs/{first['id']}")["units"], 120, "the probe's start")
    attempt_id = network.job(first["job_id"])["attempt"]["id"]
    alpha.process.kill()
    lost = wait_until(lambda: (lambda r: r if r["state"] != "queued" else None)(
        network.rest.get(f"/probe-runs/{first['id']}")), 120, "the run being marked")
    assert lost["state"] == "lost" and "fell silent" in lost["error"]
    wait_until(lambda: list(network.folder.glob(f"*/attempts/{attempt_id}/status.json")), 180, "the supervisor having ended it")

    alpha.start()
    report = wait_until(lambda: (lambda r: r if [x["state"] for x in r["runs"]] == ["lost", "succeeded"] else None)(
        network.rest.get(f"/probe-orders/{first['order_id']}")), 120, "the repeat's result")
    assert report["runs"][1]["repeats_run_id"] == first["id"]
    places = [place for group in report["comparison"] for place in group["places"]]
    assert [place["probe_run_id"] for place in places] == [report["runs"][1]["id"]], "nothing is counted twice"
    network.wait_job(first["job_id"])
    wait_until(lambda: [f for f in network.rest.items("/probe-findings?kind=late") if f["probe_run_id"] == first["id"]], 180,
               "the quarantine of what the supervisor finished all the same")
