"""Scaling end to end (M19, M23): an operator measured on one and two real cores decides how many units a job gets."""
import os

import pytest

from network import Network, agent_config, wait_until

DGEMM = {"id": "dgemm", "parameters": {"m": 1024, "n": 1024, "k": 1024}}
CORES = sorted(os.sched_getaffinity(0))
pytestmark = pytest.mark.skipif(len(CORES) < 2, reason="needs two cores")


@pytest.fixture(scope="module")
def network():
    with Network() as net:
        net.add_agent("alpha", agent_config(cores=f"{CORES[0]},{CORES[1]}", unit_count=2))
        runs = net.rest.post("/probe-runs", {"operators": [DGEMM], "unit_counts": [1, 2]})["items"]
        for run in runs:
            wait_until(lambda: net.rest.get(f"/probe-runs/{run['id']}")["state"] != "queued", 120, "a probe run's end")
            ended = net.rest.get(f"/probe-runs/{run['id']}")
            assert ended["state"] == "succeeded", ended["error"]
        yield net


def curve_of(network):
    return next(c for c in network.rest.items("/scaling-curves?operator=dgemm") if c["parameters"]["m"] == 1024)


def preview(network, **units):
    job = {"command": ["true"], "operators": [{**DGEMM, "count": 2000}], "units": units, "metering_wait_s": 0}
    return network.rest.post("/placements:preview", job, expect=200)["decision"]


def test_the_curve_has_both_counts_and_a_knee(network):
    curve = curve_of(network)
    assert [p["unit_count"] for p in curve["points"]] == [1, 2]
    assert curve["largest_measured"] == 2 and [p["unit_count"] for p in curve["curve"]] == [1, 2, 3, 4]
    # Where efficiency squared times the count is largest: rate² / count, up to what is the same for all.
    assert curve["knee"] == max(curve["curve"], key=lambda p: p["rate"] ** 2 / p["unit_count"])["unit_count"]
    assert "speed-up" in network.cli("scaling", "show", "--operator", "dgemm")
    assert "dgemm" in network.cli("scaling", "list")


def test_auto_takes_no_more_units_than_the_knee_of_the_measured_curve(network):
    points = curve_of(network)["points"]
    speedup = points[1]["model_rate"] / points[0]["rate"]
    winner = preview(network, count="auto")["candidates"][0]
    expected = 2 if speedup ** 2 / 2 > 1 else 1  # the start-up of a job of minutes moves nothing
    if abs(speedup ** 2 / 2 - 1) > 0.1:
        assert winner["scaling"]["knee"] == expected, winner["scaling"]
    assert winner["unit_count"] <= winner["scaling"]["knee"], "fewer where a probe holds the other unit"
    assert winner["scaling"]["reason"].startswith(f"{winner['unit_count']} unit")


def test_a_count_that_is_asked_for_is_predicted_by_the_curve(network):
    points = curve_of(network)["points"]
    single = preview(network, count=1)["candidates"][0]["prediction"]
    double = preview(network, count=2)["candidates"][0]
    computed = (single["run_s"] - single["start_up_s"]) * points[0]["rate"] / points[1]["model_rate"] + \
        single["start_up_s"]
    assert double["prediction"]["run_s"] == pytest.approx(computed, rel=0.02)
    assert double["scaling"]["single_run_s"] == pytest.approx(single["run_s"], rel=1e-6)


def test_predicted_against_actual_is_for_the_units_that_it_got(network):
    job = network.submit(command=["sleep", "1"], operators=[{**DGEMM, "count": 50}], units={"count": 2},
                         metering_wait_s=0)
    ended = network.wait_job(job["id"])
    assert ended["attempt"]["unit_count"] == 2
    actual = network.rest.get(f"/jobs/{job['id']}/placement")["actual"]
    assert actual["predicted_run_s"] == pytest.approx(ended["predicted"]["run_s"])
    assert actual["ratio"] == pytest.approx(actual["run_s"] / actual["predicted_run_s"])
