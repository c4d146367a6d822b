"""Copies of a probe side by side (M19): measured on two real cores, shown as a load curve, and used by predictions."""
import json
import os

import pytest

from network import Network, agent_config, wait_until

CORES = sorted(os.sched_getaffinity(0))
SIZES = {"dgemm": {"m": 256, "n": 256, "k": 256}, "stream_triad": {"n": 2000000}}
INVALID = 400
pytestmark = pytest.mark.skipif(len(CORES) < 2, reason="needs two cores")


@pytest.fixture(scope="module")
def network():
    with Network() as net:
        net.add_agent("alpha", agent_config(cores=f"{CORES[0]},{CORES[1]}", unit_count=2))
        net.add_agent("beta", agent_config(cores=f"{CORES[0]}", unit_count=1))
        yield net


def ended(network, run):
    path = f"/probe-runs/{run['id']}"
    wait_until(lambda: network.rest.get(path)["state"] != "queued", 120, "a probe run's end")
    run = network.rest.get(path)
    assert run["state"] == "succeeded", run["error"]
    return run


def order(**fields):
    operators = [{"id": name, "parameters": size} for name, size in SIZES.items()]
    return {"operators": operators, "selection": "user", "unit_types": ["alpha/core"], **fields}


@pytest.fixture(scope="module")
def copies(network):
    """One measured alone, as predictions need it, then both side by side."""
    ended(network, network.rest.post("/probe-runs", order())["items"][0])
    # With time for the turns with bubbles on a busy machine, too.
    operators = [{"id": name, "parameters": size} for name, size in SIZES.items()]
    task = network.rest.post("/probe-tasks", {"document": {"name": "copies", "limit_s": 60, "operators": operators}})
    runs = network.rest.post("/probe-runs", {"probe_task_id": task["id"], "force": True, "selection": "user",
                                             "unit_types": ["alpha/core"], "mode": "throughput"})["items"]
    assert [run["unit_count"] for run in runs] == [2], "all units, which here is also the least"
    return ended(network, runs[0])


def preview(network):
    job = {"command": ["true"], "operators": [{"id": "stream_triad", "parameters": SIZES["stream_triad"], "count": 2000}],
           "units": {"count": 1}, "metering_wait_s": 0}
    return network.rest.post("/placements:preview", job, expect=200)["decision"]


def at_alpha(decision):
    return next(one for one in decision["candidates"] if one["center"] == "alpha")


def slowdown(beside, alone):
    """As docs/measurement.md, "Neighbours", has it: of the means, of which no sample is more than three medians."""
    of_medians = beside["median_s"] / alone["median_s"]
    if min(len(times["samples_s"]) for times in (beside, alone)) < 5:
        return of_medians
    means = [sum(min(sample, 3 * times["median_s"]) for sample in times["samples_s"]) / len(times["samples_s"])
             for times in (beside, alone)]
    return max(means[0] / means[1], of_medians)


def factor_beside(curve, busy_cores, pressure, **_):
    """As docs/measurement.md has it, by the one load that was measured: between what copies and what bubbles cost."""
    def at(source, cores):
        point, = curve[source]
        return point["factor"] ** min(cores / point["busy_cores"], 1)

    if not curve["bubbles"]:
        return at("copies", busy_cores)
    own = min(curve["pressure"]["per_core"], 1)
    if pressure <= own:
        return at("copies", busy_cores) ** (1 - own) * at("copies", busy_cores * pressure / own) ** own
    share = (pressure - own) / (1 - own)
    return at("copies", busy_cores) ** (1 - share) * at("bubbles", busy_cores) ** share


def test_each_copy_has_a_unit_of_its_own_and_says_what_it_took(network, copies):
    assert copies["mode"] == "throughput" and copies["units"] == [0, 1] and len(copies["cpus"]) == 2
    result = copies["result"]
    assert result["unit_count"] == 1 and len(result["copies"]) == 1
    for operators in (result["operators"], result["copies"][0]["operators"]):
        assert [one["id"] for one in operators] == list(SIZES)
        assert all(one["error"] <= one["tolerance"] and one["median_s"] > 0 for one in operators)
    assert all(one["alone"]["median_s"] > 0 for one in result["operators"])
    shown = network.cli("probe", "show", copies["id"])
    assert "copies side by side" in shown and "Each copy's time over that alone" in shown


def test_copies_are_no_measurements_of_a_unit(network, copies):
    for curve in network.rest.items("/scaling-curves"):
        assert curve["operator"] not in SIZES, "one count is no curve, and two copies are not two units on one problem"


def test_what_they_took_is_the_load_curve(network, copies):
    curves = {one["operator"]: one for one in network.rest.items("/load-curves?unit_type=alpha/core")}
    assert set(SIZES) <= set(curves)
    for index, name in enumerate(SIZES):
        curve = curves[name]
        assert curve["source"] == "copies" and len(curve["copies"]) == 1
        point = curve["copies"][0]
        assert point["copies"] == 2 and point["busy_cores"] == pytest.approx(1, abs=0.5) and point["run_count"] == 1
        alone = copies["result"]["operators"][index]["alone"]
        both = [slowdown(one["operators"][index], alone) for one in (copies["result"], copies["result"]["copies"][0])]
        assert point["factor"] == pytest.approx(max((both[0] * both[1]) ** 0.5, 1), rel=1e-6)
    assert "1 run of copies" in network.cli("unit", "load", "alpha/core")


def test_copies_take_turns_with_bubbles_and_tell_mixes(network, copies):
    reporter = copies["result"]["reporter"]
    curves = {one["operator"]: one for one in network.rest.items("/load-curves?unit_type=alpha/core")}
    for index, name in enumerate(SIZES):
        first = copies["result"]["operators"][index]
        bursts = slowdown(first, first["alone"]) / (first["median_s"] / first["alone"]["median_s"])
        beside = bursts * first["pressure"]["beside_bubbles"]["median_s"] / first["alone"]["median_s"]
        assert first["pressure"]["reporter"]["median_s"] > 0 and reporter["alone"]["median_s"] > 0
        assert "pressure" not in copies["result"]["copies"][0]["operators"][index]
        bubbles = curves[name]["bubbles"]
        assert [point["copies"] for point in bubbles] == [2]
        assert bubbles[0]["factor"] == pytest.approx(max(beside, 1), rel=1e-6)
        pressure = curves[name]["pressure"]
        assert 0 <= pressure["low"] <= pressure["per_core"] <= pressure["high"] and pressure["run_count"] == 1
    assert "BESIDE BUBBLES" in network.cli("unit", "load", "alpha/core")


def test_a_run_is_predicted_beside_the_neighbours_that_are_expected(network, copies):
    def alone():
        candidate = at_alpha(preview(network))
        # No job, and no probe, holds the other unit.
        return candidate if candidate.get("neighbours", {}).get("busy_cores") == 0 else None

    quiet = wait_until(alone, 120, "the curve in the catalog")
    assert quiet["neighbours"]["factor"] == 1
    job = network.submit(command=["sleep", "600"], wall_limit_s=3600, units={"count": 1, "type": "core", "center": "alpha"})
    wait_until(lambda: network.job(job["id"])["state"] == "running", 120, "a neighbour")
    try:
        decision = preview(network)
        loaded = at_alpha(decision)
        curve = network.rest.items("/load-curves?operator=stream_triad&unit_type=alpha/core")[0]
        assert 0 < loaded["neighbours"]["busy_cores"] <= 1
        assert loaded["neighbours"]["pressure"] == pytest.approx(0.5), "a job that nobody knows makes half of a bubble's pressure"
        # Its start costs no more beside neighbours.
        assert 1 <= loaded["neighbours"]["factor"] <= factor_beside(curve, **loaded["neighbours"]) * (1 + 1e-9)
        assert loaded["prediction"]["run_s"] == pytest.approx(
            quiet["prediction"]["run_s"] * loaded["neighbours"]["factor"], rel=0.01)
        if decision["candidates"][0]["center"] == "alpha":
            assert any("cores of its host meanwhile" in one for one in decision["assumptions"])
    finally:
        network.rest.call("POST", f"/jobs/{job['id']}:cancel")


def test_one_unit_has_no_copies(network):
    problem = network.rest.post("/probe-runs", order(mode="throughput", unit_types=["beta/core"]), expect=INVALID)
    assert "has 1 units, 2 are asked for" in json.dumps(problem)


def test_a_count_of_copies_is_from_two(network):
    problem = network.rest.post("/probe-runs", order(mode="throughput", unit_count=1), expect=INVALID)
    assert "from 2 to 64" in json.dumps(problem)
