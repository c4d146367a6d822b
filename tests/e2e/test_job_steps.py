"""A job that its owner lets divide runs a step on a core and the next one on a GPU, and data are passed between them (S7): real fathomd,
real agent, real probes and jobs; NVIDIA's libraries are stand-ins (gpu_centers.py)."""
import json

import pytest

import openapi_check as check
from gpu_centers import GpuCenters
from network import wait_until

# Of the thin product a core has as much to read as a GPU to fetch over the bus; of the square one far less.
THIN = {"id": "dgemm", "parameters": {"m": 4096, "n": 2, "k": 512}}
SQUARE = {"id": "dgemm", "parameters": {"m": 1024, "n": 1024, "k": 1024}}


@pytest.fixture(scope="module")
def centers():
    gpus = GpuCenters({"alpha": 0.25})
    yield gpus
    gpus.network.close()


def stepped(centers, **more):
    handed = [{"path": "made.txt", "url": f"file://{centers.handed}/made.txt"}]
    steps = [{"name": "make", "command": ["/bin/sh", "-c", "echo made >made.txt; echo first"], "hands_on": handed, "out_bytes": 0,
              "operators": [{**THIN, "count": 2000}]},
             {"name": "solve", "command": ["/bin/sh", "-c", "cat made.txt; echo $CUDA_VISIBLE_DEVICES"],
              "operators": [{**SQUARE, "count": 1300}]}]
    return {"steps": steps, "split": "allowed", "metering_wait_s": 0, "units": {"count": 1}, **more}


@pytest.fixture(scope="module")
def measured(centers):
    """Both products on both kinds of unit, until the network would divide the job."""
    rest = centers.network.rest
    task = rest.post("/probe-tasks", {"document": {
        "name": "products", "repeats": 3, "target_interval": 0, "limit_s": 240, "operators": [THIN, SQUARE]}})
    for run in rest.post("/probe-runs", {"probe_task_id": task["id"], "force": True})["items"]:
        ended = wait_until(lambda run=run: (lambda one: one if one["state"] != "queued" else None)(rest.get(f"/probe-runs/{run['id']}")),
                           300, "a probe run's end")
        assert ended["state"] == "succeeded", ended["error"]

    def would_divide():
        splits = rest.post("/placements:preview", stepped(centers), expect=200)["split"]
        return splits and splits[0]["run"] == "steps"

    wait_until(would_divide, 120, "a preview that divides the job")


def test_each_step_runs_where_it_is_best_and_finds_what_the_one_before_made(centers, measured):
    network = centers.network
    assert "Whole or in steps" in network.cli("place", "-", stdin=json.dumps(stepped(centers)))

    job = network.submit(**stepped(centers))["id"]
    ended = network.wait_job(job)

    assert ended["state"] == "succeeded", (ended["end_reason"], network.cli("job", "logs", job, "--stderr"))
    assert not check.schema_errors({"$ref": "#/components/schemas/Job"}, ended)
    assert [part["place"] for part in ended["steps"]["parts"]] == ["alpha/core", "alpha/gpu"]
    assert ended["run_s"] == pytest.approx(sum(part["run_s"] for part in ended["steps"]["parts"]))
    assert ended["predicted"]["run_s"] == pytest.approx(sum(part["placed"]["run_s"] for part in ended["steps"]["parts"]))
    assert all(part["started_at"] < part["ended_at"] for part in ended["steps"]["parts"])
    assert network.cli("job", "logs", job, "--attempt", "1") == "first\n"
    made, gpu = network.cli("job", "logs", job).splitlines()
    assert made == "made" and gpu in centers.gpus_of("alpha")
    shown = network.cli("job", "show", job)
    assert "Its steps run in parts" in shown and "part 2 of 2 (step solve, on GPU)" in shown, shown


def test_without_leave_the_whole_runs_at_one_place(centers, measured):
    network = centers.network
    job = network.submit(**stepped(centers, split="never"))["id"]

    ended = network.wait_job(job)

    assert ended["state"] == "succeeded", ended["end_reason"]
    assert ended["attempt"]["unit_type"] == "gpu" and ended["attempt"]["epoch"] == 1
    assert network.cli("job", "logs", job).splitlines()[:2] == ["first", "made"]
    assert "whole: its owner has not let divide it" in network.cli("job", "show", job)
