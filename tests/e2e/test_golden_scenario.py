"""The golden scenario of R9 from end to end: two clusters whose loops, in real agents, sense, decide and act; the broker in a real
fathomd moves sub-units between them. The clusters themselves are models, seen and set through NVIDIA's library, a strict
stand-in, and the center's program that moves sub-units."""
import json
import os
import shutil
import subprocess
import sys

import pytest

import cluster_model
from network import BIN, Network, wait_until

ENOUGH = 1e9  # more work than any cluster can do
LINK_TOPS = {"I": 5_000, "II": 20_000}

CONFIG = """cores = "{core}"
probe_program = "{programs}/fathom-probe"
[environment]
FATHOM_STANDIN_GPUS = "{folder}/gpus"
LD_LIBRARY_PATH = "{programs}"
[balance]
enabled = true
dry_run = false
period_s = 0.25
pause_periods = 40
[[balance.unit]]
name = "vgpu"
device = "{gpu}"
clock_mhz = 1000
[[unit_type]]
name = "vgpu"
resource_type = "cuda"
sharing = "time-slice"
parts_per_device = 200
cores_per_unit = 0
memory_bytes_per_unit = 1000000
[[sub_units]]
kind = "vgpu"
unit_type = "vgpu"
total = 100
most = 200
change_program = "{folder}/move"
"""


class Cluster:
    """A center with a GPU that is cut into vGPUs, 100 to begin with, and its model. Jobs run on the first of them."""

    def __init__(self, network, name, programs):
        self.network, self.name = network, name
        self.folder = network.folder / f"cluster-{name}"
        self.folder.mkdir()
        self.folder.chmod(0o777)
        mover = self.folder / "move"
        mover.write_text(f"#!/bin/sh\necho $3 > {self.folder}/vgpus.new && mv {self.folder}/vgpus.new {self.folder}/vgpus\n")
        mover.chmod(0o755)
        (self.folder / "clocks").touch()
        gpu = f"GPU-00000000-0000-0000-0000-00000000000{len(name)}"
        self.give_work(0)
        self.model = subprocess.Popen([sys.executable, cluster_model.__file__, self.folder, gpu, str(LINK_TOPS[name])])
        wait_until((self.folder / "gpus").exists, 120, "the model's first state")
        config = CONFIG.format(core=sorted(os.sched_getaffinity(0))[0], programs=programs, folder=self.folder, gpu=gpu)
        # The agent's own look at the machine, too, goes to the stand-in.
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("FATHOM_STANDIN_GPUS", str(self.folder / "gpus"))
            patch.setenv("FATHOM_STANDIN_CLOCKS", str(self.folder / "clocks"))
            patch.setenv("LD_LIBRARY_PATH", str(programs))
            self.agent = network.add_agent(name, config)

    def give_work(self, tops, most_mhz=1000):
        new = self.folder / "work.new"
        new.write_text(f"{tops} {most_mhz}\n")
        new.rename(self.folder / "work")

    def start_job(self, count):
        """It computes in int8 and nothing else. It may use `count` vGPUs that are never given up."""
        command = ["sh", "-c", 'echo int8 > "$FATHOM_PRECISION_ACK_FILE"; exec sleep 600']
        self.job = self.network.submit(command=command, environment={"FATHOM_PRECISION_RANGE": "int8..int8"},
                                       units={"type": "vgpu", "center": self.name, "count": count})["id"]
        wait_until(lambda: self.network.job(self.job)["state"] == "running", 120, "the job running")

    def end_job(self):
        self.network.cli("job", "cancel", self.job)
        self.network.wait_job(self.job)

    def states(self):
        return [json.loads(line) for line in (self.folder / "states").read_text().splitlines()]

    def forget_states(self):
        os.truncate(self.folder / "states", 0)

    def rows(self):
        """As the scenario's table has them: link and load in percent, vGPUs, MHz, TOPS."""
        return [(round(100 * one["link"], 1), round(100 * one["load"], 1), one["vgpus"], one["clock_mhz"], one["tops"])
                for one in self.states()]

    def steps(self):
        return self.network.rest.items(f"/centers/{self.name}/units/vgpu/balance?page_size=1000")

    def requests(self):
        return self.network.rest.items(f"/sub-unit-requests?center={self.name}")


class Clusters:
    def __init__(self):
        self.network = Network()
        programs = self.network.folder / "programs"
        programs.mkdir()
        for file in ("bin/fathom-probe", "bin/fathom-operator-host", "standin_gpu/libnvidia-ml.so.1",
                     "standin_gpu/fathom-operators-cuda.so"):
            shutil.copy(BIN.parent / file, programs)
        self.one, self.two = (Cluster(self.network, name, programs) for name in ("I", "II"))
        self.wait_offered(100, 100)

    def wait_offered(self, one, two):
        def offered():
            return {unit["center"]: unit["unit_count"] for unit in self.network.rest.items("/unit-types") if unit["active"]}
        wait_until(lambda: offered() == {"I": one, "II": two}, 120, f"{one} vGPUs of I and {two} of II")

    def move_and_raise_the_clock(self, work_one, work_two):
        """Both clusters get work; when the vGPUs have moved, the driver allows II a tenth more clock."""
        self.one.start_job(50)
        self.two.start_job(100)
        self.one.give_work(work_one)
        self.two.give_work(work_two)
        self.wait_offered(50, 150)
        self.two.give_work(work_two, most_mhz=1100)
        wait_until(lambda: [one["clock_mhz"] for one in self.two.states()[-1:]] == [1100], 120, "II at 1.1 GHz")

    def close(self):
        self.network.close()
        for cluster in (self.one, self.two):
            cluster.model.kill()
            cluster.model.wait()


@pytest.fixture(scope="module")
def clusters():
    both = Clusters()
    try:
        yield both
    finally:
        both.close()


@pytest.fixture
def network(clusters):
    """For the logs of a test that fails."""
    return clusters.network


def tops_and_watts(*states):
    return sum(state["tops"] for state in states), sum(state["watts"] for state in states)


def test_saturated_clusters_come_from_15000_to_21500_tops(clusters, network):
    one, two = clusters.one, clusters.two
    clusters.move_and_raise_the_clock(ENOUGH, ENOUGH)

    assert one.rows() == [(100, 50, 100, 1000, 5_000), (100, 100, 50, 1000, 5_000)]
    assert two.rows() == [(50, 100, 100, 1000, 10_000), (75, 100, 150, 1000, 15_000), (82.5, 100, 150, 1100, 16_500)]
    tops, watts = tops_and_watts(one.states()[0], two.states()[0])
    tops_after, watts_after = tops_and_watts(one.states()[-1], two.states()[-1])
    assert tops == 15_000 and tops_after == pytest.approx(21_500)
    assert 100 * (tops_after / tops - 1) == pytest.approx(43.3, abs=0.05)
    assert 100 * (tops_after / watts_after / (tops / watts) - 1) == pytest.approx(33.3, abs=0.05)


def test_the_loops_have_asked_for_it_and_the_broker_has_given_what_there_was(clusters, network):
    one, two = clusters.one, clusters.two
    release = next(request for request in one.requests() if request["action"] == "release")
    assert (release["count"], release["state"], release["asked_by"]) == (50, "done", network.center("I")["id"])
    gain = next(request for request in two.requests() if request["granted_count"])
    assert (gain["action"], gain["count"], gain["granted_count"], gain["asked_by"]) == ("gain", 100, 50, network.center("II")["id"])
    grant = network.rest.items("/sub-unit-grants")[0]
    assert (grant["from_center"], grant["to_center"], grant["count"]) == ("I", "II", 50)

    def acts_of(cluster):
        return [step for step in cluster.steps() if step["outcome"] == "acted"]
    wait_until(lambda: any(step["actions"]["clock_mhz"] for step in acts_of(two)), 120, "II's step with the clock being told")
    acts = {cluster.name: acts_of(cluster) for cluster in (one, two)}
    assert acts["I"][-1]["wanted_sub_units"] == 50 and acts["I"][-1]["actions"]["sub_units"] < 0
    assert acts["II"][-1]["wanted_sub_units"] == 200 and acts["II"][-1]["actions"]["sub_units"] > 0
    assert sum(step["actions"]["clock_mhz"] for step in acts["II"]) == 100
    assert all(step["actions"]["precision_steps"] == 0 for step in acts["I"] + acts["II"])
    assert not any("precision" in fault for step in acts["I"] + acts["II"] for fault in step["faults"])


def test_everything_is_as_before_when_the_jobs_have_ended(clusters, network):
    for cluster in (clusters.one, clusters.two):
        cluster.end_job()
        cluster.give_work(0, most_mhz=1100)
    clusters.wait_offered(100, 100)
    wait_until(lambda: (clusters.two.folder / "clocks").read_text().splitlines()[-1].endswith(" 1000 1000"), 120, "II's clock as it was")


def test_at_low_load_the_same_moves_balance_what_the_links_bring(clusters, network):
    one, two = clusters.one, clusters.two
    for cluster in (one, two):
        cluster.give_work(0)
        cluster.forget_states()
    clusters.move_and_raise_the_clock(2_500, 5_000)

    assert one.rows() == [(50, 25, 100, 1000, 2_500), (50, 50, 50, 1000, 2_500)]
    assert two.rows() == [(25, 50, 100, 1000, 5_000), (25, 33.3, 150, 1000, 5_000), (27.5, 33.3, 150, 1100, 5_500)]
