"""A GPU unit type from the catalog to a probe, a score and a routed job (M8, S7): real fathomd, real agents, real probes and jobs;
NVIDIA's libraries are stand-ins, and stricter than the originals: a program sees the one GPU that it was handed, or none."""
import os
import shutil

import pytest

import openapi_check as check
from network import BIN, Network, build_slow_products, wait_until

DGEMM = {"id": "dgemm", "parameters": {"m": 512, "n": 512, "k": 512}}
DGEMM_BYTES = 3 * 8 * 512 ** 2
MIB = 1 << 20


class GpuCenters:
    """Two centers of a core and two GPUs each; only how fast the bus to the GPUs is differs. Products of matrices take eight
    times as long on cores as on GPUs."""

    BUS_GB_S = {"alpha": 25, "beta": 0.005}

    def __init__(self):
        self.network = Network()
        self.programs = self.network.folder / "programs"
        self.programs.mkdir()
        for file in ("bin/fathom-probe", "bin/fathom-operator-host", "bin/training_loop", "standin_gpu/libnvidia-ml.so.1",
                     "standin_gpu/fathom-operators-cuda.so", "standin_driver/libcuda.so.1"):
            shutil.copy(BIN.parent / file, self.programs)
        self.slow_products = build_slow_products(self.programs, 8)
        cores = sorted(os.sched_getaffinity(0))
        try:
            for name, core in (("alpha", cores[0]), ("beta", cores[-1])):
                self.add_center(name, core)
        except BaseException:
            self.network.close()
            raise

    @staticmethod
    def gpus_of(center):
        return [f"GPU-{center}-{number}" for number in (0, 1)]

    def add_center(self, name, core):
        gpus = self.programs / f"gpus-{name}"
        gpus.write_text("".join(f"gpu\t{gpu}\tStand-in\t{64 * MIB}\n" for gpu in self.gpus_of(name)))
        config = f"""cores = "{core}"
probe_program = "{self.programs / 'fathom-probe'}"
[environment]
FATHOM_STANDIN_GPUS = "{gpus}"
FATHOM_STANDIN_BUS_GB_S = "{self.BUS_GB_S[name]}"
LD_LIBRARY_PATH = "{self.programs}"
LD_PRELOAD = "{self.slow_products}"
[[unit_type]]
name = "gpu"
resource_type = "cuda"
cores_per_unit = 0
memory_bytes_per_unit = 1000000000
[[unit_type]]
name = "core"
unit_count = 1
"""
        # The agent's own look at the machine, too, goes to the stand-ins.
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("FATHOM_STANDIN_GPUS", str(gpus))
            patch.setenv("LD_LIBRARY_PATH", str(self.programs))
            self.network.add_agent(name, config)

    def training(self, *before):
        """What computes on the GPU that it was handed, through the driver, and checks each word of it."""
        command = " ".join([str(self.programs / "training_loop"), "iterations", "3", "weights-mib", "4", "activations-mib", "16"])
        return ["/bin/sh", "-c", "; ".join([*before, f"exec {command}"])]

    def decide(self, **fields):
        """The place and the decision of a job that says only that it computes: since it fails, nothing is learned of it, and no
        probes of its type are in the way of the next one."""
        job = self.network.submit(command=["/bin/false"], metering_wait_s=0, **{"units": {"count": 1}, **fields})["id"]
        attempt = self.network.wait_job(job)["attempt"]
        found = self.network.rest.get(f"/jobs/{job}/placement")
        assert not check.schema_errors({"$ref": "#/components/schemas/Placement"}, found)
        return f"{attempt['center']}/{attempt['unit_type']}", found["decision"], job


@pytest.fixture(scope="module")
def centers():
    gpus = GpuCenters()
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
    for center, bus in centers.BUS_GB_S.items():
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
