"""Predictions are held against what came; a center that fails its jobs gets none until it is well; what runs otherwise
than predicted is measured again."""
import json
import os
import pathlib

import pytest

from conftest import best_core_type
from network import Network, agent_config, build_slow_products, probe_for_jobs, wait_until

PRODUCT = {"id": "dgemm", "parameters": {"m": 512, "n": 512, "k": 512}}
TASK = {"name": "job", "operators": [{**PRODUCT, "count": 60}], "repeats": 1, "min_sample_s": 0, "target_interval": 0,
        "limit_s": 100}

# Jobs and probes look into their center's folder: `broken` makes all fail at once, `slow` makes products take five times
# as long, far more than whatever else the machine does may add.
LOOK = """[ -e "$FATHOM_TEST_FOLDER/broken" ] && { echo "the file system is gone" >&2; exit 1; }
[ -e "$FATHOM_TEST_FOLDER/slow" ] && export LD_PRELOAD="$FATHOM_TEST_FOLDER/slow_products.so"
"""
PROBE = f'#!/bin/sh\n{LOOK}exec "{probe_for_jobs()}" "$@"\n'
JOB = {"command": ["sh", "job.sh"], "type": "products", "operators": [{**PRODUCT, "count": 60}], "metering_wait_s": 0,
       "files": {"job.sh": f'{LOOK}exec "{probe_for_jobs()}" --task task.json\n', "task.json": json.dumps(TASK)}}


class Deployment:
    """Two centers of one core each; what ails one is set as the test goes."""

    def __init__(self):
        self.net = Network(settings=["--quarantine-probe-pause-s", "1", "--drift-period-s", "1", "--drift-pause-s", "1",
                                     "--verify-one-in", "0"])
        self.folders = {}
        cores = sorted(os.sched_getaffinity(0))
        for name, core in (("alpha", cores[0]), ("beta", cores[-1])):
            folder = self.net.folder / f"ails-{name}"
            folder.mkdir()
            folder.chmod(0o777)
            build_slow_products(folder, 5)
            program = folder / "fathom-probe"
            program.write_text(PROBE)
            program.chmod(0o755)
            self.folders[name] = folder
            environment = {"OPENBLAS_CORETYPE": best_core_type(), "FATHOM_TEST_FOLDER": folder}
            self.net.add_agent(name, agent_config(
                cores=str(core), environment=environment, extra=f'probe_program = "{program}"'))
        task = {"document": {"name": "products", "operators": [PRODUCT], "target_interval": 0}, "job_type": "products"}
        self.task = self.net.rest.post("/probe-tasks", task)["id"]
        runs = self.net.rest.post("/probe-runs", {"probe_task_id": self.task, "force": True})["items"]
        for run in runs:
            wait_until(lambda run=run: self.run(run["id"])["state"] == "succeeded", 120, "the first measurement")
        wait_until(self.are_measurements_known, 120, "decisions that know the measurements")

    def are_measurements_known(self):
        decision = self.net.rest.post("/placements:preview", JOB, expect=200)["decision"]
        return all(one["prediction"]["unknown_operators"] == 0 for one in decision["candidates"])

    def run(self, run):
        return self.net.rest.get(f"/probe-runs/{run}")

    def ail(self, center, what, is_on=True):
        path = self.folders[center] / what
        path.touch() if is_on else path.unlink()

    def submit(self, center=None, count=1):
        units = {"units": {"center": center}} if center else {}
        return [self.net.submit(**JOB, **units)["id"] for _ in range(count)]

    def finish(self, jobs):
        return [self.net.wait_job(job)["state"] for job in jobs]

    def quarantined(self, center):
        return self.net.center(center)["quarantined_at"]

    def is_type_known(self):
        """The jobs' type has learned what they do, and the task made of that was tried and released."""
        return any(task["job_type"] == "products" and task["state"] == "released" and task["from_job"]
                   for task in self.net.rest.items("/probe-tasks"))

    def probes(self, center, cause):
        return [run for run in self.net.rest.items("/probe-runs") if run["center"] == center and run["cause"] == cause]


@pytest.fixture(scope="module")
def deployment():
    made = Deployment()
    try:
        yield made
    finally:
        made.net.close()


@pytest.fixture
def network(deployment):
    """For the report of failures."""
    return deployment.net


def test_every_placement_is_held_against_what_came(deployment, network):
    jobs = deployment.submit("alpha") + deployment.submit("beta")
    assert deployment.finish(jobs) == ["succeeded"] * 2
    records = {one["job_id"]: one for one in network.rest.items("/predictions?ended=true&job_type=products")}
    assert set(records) == set(jobs)
    for one in records.values():
        assert one["outcome"] == "succeeded" and one["actual_run_s"] > 0 and one["actual_wait_s"] >= 0
        assert one["raw_prediction"]["low_s"] <= one["raw_prediction"]["run_s"] <= one["raw_prediction"]["high_s"]
        assert one["predicted"]["run_s"] == pytest.approx(one["raw_prediction"]["run_s"], rel=1)
    of_alpha = network.rest.items("/predictions?center=alpha")
    assert [one["job_id"] for one in of_alpha] == jobs[:1]
    assert network.rest.items("/predictions?unit_type=beta/core&ended=true")[0]["job_id"] == jobs[1]
    # A user sees own jobs only, and a job that was never placed leaves nothing.
    token = network.rest.post("/tokens", {"name": "other", "role": "user"})["token"]
    assert network.rest_of(network.server, token).items("/predictions") == []
    calibration = network.rest.get("/predictions:calibration")
    assert calibration["run"]["job_count"] == 2 and calibration["wait"]["count"] == 2
    assert {one["center"] for one in calibration["by_unit_type"]} == {"alpha", "beta"}
    assert [one["job_type"] for one in calibration["by_job_type"]] == ["products"]
    text = network.cli("accuracy")
    assert "IN 80 % INTERVAL" in text and "products" in text and "as predicted" in text
    assert jobs[0] in network.cli("accuracy", "list", "--center", "alpha")
    assert json.loads(network.cli("accuracy", "--output", "json"))["run"]["job_count"] == 2
    # Before anything ails: a test that failed at a broken center would count against the task, for a day.
    wait_until(deployment.is_type_known, 120, "the release of the task that the jobs' type has learned")


def test_a_center_that_fails_its_jobs_gets_none_until_its_probes_are_good(deployment, network):
    deployment.ail("alpha", "broken")
    assert deployment.finish(deployment.submit("alpha", 5)) == ["failed"] * 5
    wait_until(lambda: deployment.quarantined("alpha"), 120, "the quarantine of alpha")
    reason = network.center("alpha")["quarantine_reason"]
    assert "5 of 6 attempts failed" in reason and "so did a probe" in reason, "one submitter alone is not believed"
    assert "no, quarantined" in network.cli("center", "list")
    assert "attempts failed" in network.cli("center", "show", "alpha")
    # Others take the work, and who wants this center waits, with the reason.
    done = deployment.submit(count=3)
    assert deployment.finish(done) == ["succeeded"] * 3
    assert {network.job(job)["attempt"]["center"] for job in done} == {"beta"}
    [waiting] = deployment.submit("alpha")
    wait_until(lambda: "quarantined" in (network.job(waiting)["waiting_reason"] or ""), 120, "the reason")
    assert network.job(waiting)["state"] == "queued"
    # Its probes fail too, at growing distances, and keep it out.
    wait_until(lambda: any(run["state"] == "failed" for run in deployment.probes("alpha", "quarantine")), 120, "a bad probe")
    assert deployment.quarantined("alpha")
    deployment.ail("alpha", "broken", False)
    wait_until(lambda: not deployment.quarantined("alpha"), 120, "alpha's return")
    good = [run for run in deployment.probes("alpha", "quarantine") if run["state"] == "succeeded"]
    assert len(good) >= 2
    assert deployment.finish([waiting]) == ["succeeded"]
    metrics = network.rest.call("GET", "/metrics").text
    assert "fathom_center_quarantines_total 1" in metrics


def test_an_admin_lets_it_back_in_by_hand(deployment, network):
    deployment.ail("alpha", "broken")
    assert deployment.finish(deployment.submit("alpha", 5)) == ["failed"] * 5
    wait_until(lambda: deployment.quarantined("alpha"), 120, "the second quarantine")
    deployment.ail("alpha", "broken", False)
    assert "takes jobs" in network.cli("center", "release", "alpha")
    assert not deployment.quarantined("alpha")
    released = network.rest.get("/audit-log?action=center.release&page_size=1")["items"][0]
    assert released["request_id"], "by a request, not by the server itself"
    assert network.rest.post("/centers/alpha:release", None, expect=200)["quarantined_at"] is None
    assert deployment.finish(deployment.submit("alpha")) == ["succeeded"]
    user = network.rest.post("/tokens", {"name": "user", "role": "user"})["token"]
    network.cli("center", "release", "alpha", expect=4, token=user)


def test_what_slows_down_is_measured_again(deployment, network):
    assert deployment.finish(deployment.submit("beta", 14)) == ["succeeded"] * 14
    before = min(one["raw_prediction"]["run_s"] for one in network.rest.items("/predictions?center=beta"))
    deployment.ail("beta", "slow")
    ended = {run["id"] for run in deployment.probes("beta", "drift") if run["state"] != "queued"}
    # Where the machine has other work its speed may drift by itself, and the probe of that may see the old speed still:
    # then the next jobs tell.
    for _ in range(5):
        assert deployment.finish(deployment.submit("beta", 6)) == ["succeeded"] * 6
        wait_until(lambda: deployment.probes("beta", "drift"), 120, "probes because of drift")
        wait_until(lambda: all(run["state"] != "queued" for run in deployment.probes("beta", "drift")), 120, "their ends")
        assert deployment.finish(deployment.submit("beta")) == ["succeeded"]
        after = network.rest.items("/predictions?center=beta")[0]["raw_prediction"]["run_s"]
        if after > 1.3 * before:
            break
    assert after > 1.3 * before, "what is predicted now is what it can do now"
    runs = [run for run in deployment.probes("beta", "drift") if run["id"] not in ended]
    assert runs and all(run["created_by"] == "fathom" for run in runs)
    assert "unit_type_drifted" in pathlib.Path(network.server.process.log_path).read_text()
