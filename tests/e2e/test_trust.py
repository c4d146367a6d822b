"""A center that cheats is caught, in each of the ways that it may try; an honest one beside it is never accused."""
import json
import os
import pathlib
import shutil
import time

import pytest

from conftest import best_core_type
from network import Network, agent_config, build_slow_products, probe_for_jobs, wait_until

TRANSFORM = [{"id": "fft1d", "parameters": {"n": 65536}}]
PRODUCT = [{"id": "dgemm", "parameters": {"m": 512, "n": 512, "k": 512}}]


class Deployment:
    """A network with a center `honest` and a center `cheat` whose way of cheating is set as the test goes."""

    def __init__(self):
        self.net = Network(settings=["--verify-one-in", "1", "--verify-priority", "normal"])
        programs = self.net.folder / "cheat"
        programs.mkdir()
        self.folder = self.net.folder / "cheat-notes"  # where the programs are, jobs of the agent's user cannot write
        self.folder.mkdir()
        self.folder.chmod(0o777)
        program = programs / "fathom-probe"
        shutil.copy(pathlib.Path(__file__).parent / "cheating_probe.py", program)
        program.chmod(0o755)
        self.cheat_as("honest")
        cores = sorted(os.sched_getaffinity(0))
        self.net.add_agent("honest", agent_config(
            cores=str(cores[-1]), environment={"OPENBLAS_CORETYPE": best_core_type()}))
        # Jobs get slow products here; only the mode `better` has probes run without them.
        environment = {"OPENBLAS_CORETYPE": best_core_type(), "LD_PRELOAD": build_slow_products(programs, 5),
                       "FATHOM_CHEAT_FOLDER": self.folder, "FATHOM_CHEAT_REAL": probe_for_jobs()}
        self.net.add_agent("cheat", agent_config(
            cores=str(cores[0]), environment=environment, extra=f'probe_program = "{program}"'))
        self.tasks = {}

    def cheat_as(self, mode):
        (self.folder / "mode").write_text(mode)

    def task(self, name, operators, **rules):
        """The probe task of this name, made at its first use."""
        if name not in self.tasks:
            document = {"name": name, "operators": operators, "target_interval": 0, **rules}
            self.tasks[name] = self.net.rest.post("/probe-tasks", {"document": document, "job_type": name})["id"]
        return self.tasks[name]

    def probe(self, center, task):
        """A probe run of one unit, in its end state, verified where it is to be."""
        run = self.probe_once(center, task)
        while run["state"] == "lost":  # whoever is late once, as on a busy machine, is measured again
            [again] = [one for one in self.net.rest.items("/probe-runs") if one["repeats_run_id"] == run["id"]]
            run = self.end_of(again["id"])
        return run

    def probe_once(self, center, task):
        """It alone, also where it is to be repeated."""
        order = {"probe_task_id": task, "force": True, "selection": "user", "unit_types": [f"{center}/core"]}
        return self.end_of(self.net.rest.post("/probe-runs", order)["items"][0]["id"])

    def end_of(self, run):
        return wait_until(lambda: self.settled(run), 300, f"the end of {run}")

    def settled(self, run):
        now = self.net.rest.get(f"/probe-runs/{run}")
        return now if now["state"] != "queued" and now["verification"] != "pending" else None

    def findings(self, center="cheat", **filters):
        query = "".join(f"&{name}={value}" for name, value in filters.items())
        return self.net.rest.items(f"/probe-findings?center={center}{query}")

    def trust(self, center):
        return next(t for t in self.net.rest.get("/trust")["items"] if t["center"] == center)

    def has_computed(self):
        """Whether the newest answer of the cheat was computed for it."""
        return (self.folder / "answered").read_text() == "computed"


@pytest.fixture(scope="module")
def deployment():
    made = Deployment()
    try:
        yield made
    finally:
        made.net.close()


@pytest.fixture
def transform(deployment):
    return deployment.task("transform", TRANSFORM)


@pytest.fixture
def product(deployment):
    return deployment.task("product", PRODUCT)


@pytest.fixture
def network(deployment):
    """For the report of failures."""
    return deployment.net


def test_what_is_honest_is_verified_and_right(deployment, network, transform, product):
    for center in ("honest", "cheat"):
        for task in (transform, product):
            run = deployment.probe(center, task)
            assert (run["state"], run["verification"]) == ("succeeded", "right"), run["verification_detail"]
    assert deployment.trust("cheat")["factor"] == 1 and deployment.trust("cheat")["verified"]["right_count"] >= 2


def test_a_fast_path_for_known_sizes_gains_nothing(deployment, network, transform, product):
    deployment.cheat_as("fast_path")
    # Products are measured at drawn sizes, which it does not know: it has to compute, or is found out.
    run = deployment.probe("cheat", product)
    assert run["verification"] == "wrong" or deployment.has_computed()
    # Transforms have one size; but what they transform is new each time.
    run = deployment.probe("cheat", transform)
    assert (run["state"], run["verification"]) == ("succeeded", "wrong")
    assert "right is" in run["verification_detail"]
    finding = next(f for f in deployment.findings(kind="checksum") if f["probe_run_id"] == run["id"])
    assert finding["unit_type"] == "core" and finding["dismissed_at"] is None
    assert deployment.trust("cheat")["factor"] <= 0.5
    # What it claimed is void, and nothing else is left of what nobody has verified.
    scores = [s for s in deployment.net.rest.items("/scores?operator=fft1d") if s["center"] == "cheat"]
    assert all(run["id"] not in s["probe_run_ids"] for s in scores)
    assert all(deployment.settled(s["probe_run_id"])["verification"] == "right" for s in scores)


def test_a_remembered_result_is_that_of_another_run(deployment, network, product):
    deployment.cheat_as("replay")
    run = deployment.probe("cheat", product)
    assert run["state"] == "failed" and "seed" in run["error"]
    assert any(f["probe_run_id"] == run["id"] for f in deployment.findings(kind="checksum"))


def test_a_clock_that_is_too_slow_is_seen_by_ours(deployment, network):
    deployment.cheat_as("slow_clock")
    task = deployment.task("long", PRODUCT, repeats=60, min_sample_s=0.15, limit_s=100)
    first = deployment.probe_once("cheat", task)
    assert first["state"] == "lost" and "measured again" in first["error"], first
    assert all(f["probe_run_id"] != first["id"] for f in deployment.findings(kind="clock")), "it may have been told late"
    [again] = [run for run in network.rest.items("/probe-runs") if run["repeats_run_id"] == first["id"]]
    run = deployment.end_of(again["id"])
    assert run["state"] == "failed" and "by the center's clock" in run["error"]
    finding = next(f for f in deployment.findings(kind="clock") if f["probe_run_id"] == run["id"])
    assert finding["evidence"]["seen_s"] > 1.5 * finding["evidence"]["claimed_s"]
    honest = deployment.probe("honest", task)
    assert honest["state"] == "succeeded", honest["error"]


def test_an_expert_dismisses_findings(deployment, network):
    found = deployment.findings(open="true")
    assert len(found) >= 3 and deployment.trust("cheat")["finding_count"] == len(found)
    assert "checksum" in deployment.net.cli("finding", "list", "--open", "--center", "cheat")
    deployment.net.cli("finding", "dismiss", found[0]["id"], "--reason", "the test knows better")
    for finding in found[1:]:
        deployment.net.rest.post(f"/probe-findings/{finding['id']}:dismiss", {"reason": "test"}, expect=200)
    assert deployment.trust("cheat")["finding_count"] == 0 and deployment.trust("cheat")["factor"] == 1
    assert not deployment.findings(open="true") and deployment.findings(open="false")


def test_jobs_that_are_slower_than_probes_let_expect_cost_score_and_work(deployment, network, product):
    deployment.cheat_as("better")
    for center in ("cheat", "honest"):
        assert deployment.probe(center, product)["verification"] == "right", "it computes, but not where jobs do"
    before = next(s for s in deployment.net.rest.items("/scores?operator=dgemm") if s["center"] == "cheat")
    task = {"name": "job", "operators": [{**PRODUCT[0], "count": 100}], "repeats": 1, "min_sample_s": 0,
            "target_interval": 0, "limit_s": 200}
    job = {"command": [str(probe_for_jobs()), "--task", "task.json"], "files": {"task.json": json.dumps(task)},
           "type": "products", "operators": [{**PRODUCT[0], "count": 103}], "metering_wait_s": 0}
    # What probes measure on a shared machine scatters by a third; so many jobs outweigh that.
    for _ in range(10):
        jobs = [deployment.net.submit(**job, units={"center": center})["id"] for center in ("cheat", "honest")]
        assert all(deployment.net.wait_job(one)["state"] == "succeeded" for one in jobs)
    trust = wait_until(lambda: (lambda t: t if t["job_count"] >= 10 else None)(deployment.trust("cheat")), 120, "the jobs' word")
    assert trust["slowdown"] > 1.2 and trust["factor"] < 0.85 and trust["finding_count"] == 0
    after = wait_until(lambda: next((s for s in deployment.net.rest.items("/scores?operator=dgemm") if s["center"] == "cheat" and
                                     s["trust_factor"] < 0.85), None), 120, "the lower score")
    # Of the rate measured, whichever of its measurements this is.
    assert after["score"] / after["rate_flops"] == pytest.approx(after["trust_factor"] * before["score"] / before["rate_flops"])
    time.sleep(5)  # so long the router may keep its judgement
    deployment.probe("honest", product)  # after which it reads the catalog anew
    wait_until(lambda: (lambda d: d["candidates"][d["winner"]]["center"] == "honest")(
        deployment.net.rest.post("/placements:preview", job, expect=200)["decision"]), 120, "the router's trust penalty")
    # No probe may hold the better center's unit.
    wait_until(lambda: all(run["state"] != "queued" for run in network.rest.items("/probe-runs")), 120, "the end of all probes")
    placed = deployment.net.submit(**job)
    assert deployment.net.wait_job(placed["id"])["attempt"]["center"] == "honest"


def test_the_honest_center_was_never_accused(deployment, network):
    assert deployment.findings("honest") == []
    honest = deployment.trust("honest")
    assert honest["finding_count"] == 0 and honest["finding_factor"] == 1
    # What its jobs took beside all else that this machine does is no accusation, and never as bad as what the cheat's did.
    assert honest["factor"] > deployment.trust("cheat")["factor"]
    text = deployment.net.cli("trust", "list")
    assert "honest" in text and "OPEN FINDINGS" in text
    metrics = deployment.net.rest.call("GET", "/metrics").text
    assert 'fathom_probe_findings_total{kind="clock"}' in metrics
    assert 'fathom_probe_verifications_total{outcome="right"}' in metrics
