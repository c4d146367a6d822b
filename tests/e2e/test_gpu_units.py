"""A GPU unit type from the catalog to a probe, a score and a routed job (M8, S7): real fathomd, real agents, real probes and jobs;
NVIDIA's libraries are stand-ins, and stricter than the originals: a program sees the one GPU that it was handed, or none."""
import pytest

from gpu_centers import GpuCenters
from network import wait_until

DGEMM = {"id": "dgemm", "parameters": {"m": 512, "n": 512, "k": 512}}
DGEMM_BYTES = 3 * 8 * 512 ** 2
BUS_GB_S = {"alpha": 25, "beta": 0.005}


@pytest.fixture(scope="module")
def centers():
    gpus = GpuCenters(BUS_GB_S)
    yield gpus
    gpus.network.close()


@pytest.fixture(scope="module")
def runs(centers):
    """By place: the ended probe runs of a product of matrices on every unit type."""
    rest = centers.network.rest

    def ended(run):
        return (lambda one: one if one["state"] != "queued" else None)(rest.get(f"/probe-runs/{run['id']}"))

    ordered = rest.post("/probe-runs", {"operators": [DGEMM]})["items"]
    found = [wait_until(lambda run=run: ended(run), 180, "a probe run's end") for run in ordered]

    def are_both_kinds_known():
        job = {"command": ["/bin/false"], "operators": [DGEMM], "units": {"count": 1}}
        decision = rest.post("/placements:preview", job, expect=200)["decision"]
        return {one["center"] for one in decision["devices"]} == {"alpha", "beta"}

    wait_until(are_both_kinds_known, 120, "decisions that know the measurements")
    return {f"{run['center']}/{run['unit_type']}": run for run in found}


def test_the_catalog_has_the_gpus_with_what_the_driver_and_the_probe_program_tell_of_them(centers):
    offered = {f"{u['center']}/{u['name']}": u for u in centers.network.rest.items("/unit-types")}
    assert set(offered) == {"alpha/gpu", "alpha/core", "beta/gpu", "beta/core"}
    for center, bus in BUS_GB_S.items():
        gpu = offered[f"{center}/gpu"]
        assert (gpu["resource_type"], gpu["unit_count"], gpu["operators"]) == ("cuda", 2, ["dgemm"])
        assert gpu["facts"]["device"]["model"] == "Stand-in"
        assert gpu["facts"]["gpu_parallelism"] == 132 and gpu["facts"]["bus_gb_s"] == pytest.approx(bus)
        assert offered[f"{center}/core"]["resource_type"] == "cpu"
        assert {"dgemm", "stream_triad", "sort"} <= set(offered[f"{center}/core"]["operators"])


def test_probes_measure_the_gpu_that_they_were_handed(centers, runs):
    assert set(runs) == {"alpha/gpu", "alpha/core", "beta/gpu", "beta/core"}
    for place, run in runs.items():
        assert run["state"] == "succeeded", (place, run["error"])
        product = run["result"]["operators"][0]
        assert product["id"] == "dgemm" and product["error"] <= product["tolerance"]
        assert ("gpu" in run["result"]["host"]) == place.endswith("/gpu")
    assert runs["alpha/gpu"]["result"]["host"]["gpu"]["name"] == "Stand-in"


def test_the_gpu_has_a_score_of_its_own_beside_the_cores(centers, runs):
    scores = {f"{s['center']}/{s['unit_type']}": s for s in centers.network.rest.items("/scores?operator=dgemm")}
    assert set(scores) == set(runs)
    for place, score in scores.items():
        assert score["probe_run_id"] == runs[place]["id"] and score["score"] > 0
        assert score["ci_low_s"] <= score["median_s"] <= score["ci_high_s"]
    assert scores["alpha/gpu"]["score"] > 2 * scores["alpha/core"]["score"]
    listed = [line.split() for line in centers.network.cli("score", "list", "--operator", "dgemm").splitlines()]
    assert ["alpha", "gpu"] in [line[:2] for line in listed]


def test_a_dense_job_goes_to_the_gpu_and_is_told_why(centers, runs):
    place, decision, job = centers.decide(operators=[{**DGEMM, "count": 2000}])
    assert place == "alpha/gpu", decision
    winner = decision["candidates"][decision["winner"]]
    assert winner["prediction"]["operators"][0]["basis"] == "measured"
    choice = next(one for one in decision["devices"] if one["center"] == "alpha")
    assert (choice["cpu_unit_type"], choice["gpu_unit_type"], choice["run_on"]) == ("core", "gpu", "GPU")
    assert (choice["bus_gb_s"], choice["bus_source"]) == (pytest.approx(25), "center")
    product = choice["operators"][0]
    assert product["bus_s"] == pytest.approx(2000 * DGEMM_BYTES / 25e9)
    assert choice["speedup"] == pytest.approx(choice["cpu_s"] / choice["gpu_s"]) and choice["speedup"] > 2
    explained = centers.network.cli("job", "explain", job)
    assert "CPU or GPU" in explained and "so GPU (threshold 1" in explained, explained


def test_where_the_bus_takes_longer_than_is_won_the_job_goes_to_the_core(centers, runs):
    place, decision, _ = centers.decide(operators=[{**DGEMM, "count": 200}], units={"center": "beta", "count": 1})
    assert place == "beta/core", decision
    choice = next(one for one in decision["devices"] if one["center"] == "beta")
    assert choice["run_on"] == "CPU" and choice["speedup"] < 1
    assert choice["operators"][0]["bus_s"] == pytest.approx(200 * DGEMM_BYTES / 0.005e9)


def test_what_no_gpu_computes_goes_to_a_core(centers, runs):
    place, decision, _ = centers.decide(operators=[{"id": "sort", "parameters": {"n": 100000}, "count": 10}])
    assert place.endswith("/core"), decision


def test_a_job_that_asks_for_the_kind_gets_one_gpu_and_computes_on_it(centers, runs):
    network = centers.network
    job = network.submit(command=centers.training("echo $CUDA_VISIBLE_DEVICES"), metering_wait_s=0,
                         units={"center": "alpha", "type": "gpu", "count": 1})["id"]
    ended = network.wait_job(job)
    assert ended["state"] == "succeeded", network.cli("job", "logs", job, "--stderr")
    handed, started, told = network.cli("job", "logs", job).splitlines()
    assert handed in centers.gpus_of("alpha") and started == "started"
    assert '"iterations": 3' in told


def test_a_job_on_a_core_sees_no_gpu(centers, runs):
    network = centers.network
    job = network.submit(command=centers.training(), metering_wait_s=0, units={"center": "alpha", "type": "core", "count": 1})["id"]
    ended = network.wait_job(job)
    assert ended["state"] == "failed"
    assert "cuInit: status 100" in network.cli("job", "logs", job, "--stderr")  # CUDA_ERROR_NO_DEVICE
