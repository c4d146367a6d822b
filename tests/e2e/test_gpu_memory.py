"""Jobs that share the memory of a GPU, from their submission to what people are told of it (G1 to G9): real fathomd, a real
agent with its memory manager, real programs; NVIDIA's libraries are strict stand-ins."""
import os
import shutil

import pytest
import requests

from network import BIN, Network, wait_until

GPU = "GPU-00000000-1111-2222-3333-444444444444"
MIB = 1 << 20
CARD = 32 * MIB


class SharedGpu:
    """A center with one GPU of 32 MiB, whose four parts take turns."""

    def __init__(self):
        self.network = Network()
        self.programs = self.network.folder / "gpu"
        self.programs.mkdir()
        cards = self.network.folder / "cards"  # where the programs are, jobs of the agent's user cannot write
        cards.mkdir()
        for file in ("bin/fathom-probe", "bin/fathom-operator-host", "bin/libfathom-gpu.so", "bin/training_loop",
                     "standin_gpu/libnvidia-ml.so.1", "standin_gpu/fathom-operators-cuda.so", "standin_driver/libcuda.so.1"):
            shutil.copy(BIN.parent / file, self.programs)
        gpus = self.programs / "gpus"
        gpus.write_text(f"gpu\t{GPU}\tStand-in\t{CARD}\n")
        card = cards / GPU  # the stand-in's books, for jobs of all users
        card.touch()
        card.chmod(0o666)
        config = f"""cores = "{sorted(os.sched_getaffinity(0))[0]}"
probe_program = "{self.programs / 'fathom-probe'}"
[environment]
FATHOM_STANDIN_GPUS = "{gpus}"
FATHOM_STANDIN_CARDS = "{cards}"
LD_LIBRARY_PATH = "{self.programs}"
[gpu_memory]
enabled = true
reserved_bytes = 0
gap_bytes = {2 * MIB}
slice_s = 0.05
[[unit_type]]
name = "part"
resource_type = "cuda"
cores_per_unit = 0
memory_bytes_per_unit = 1000000000
sharing = "time-slice"
parts_per_device = 4
"""
        # The agent's own look at the machine, too, goes to the stand-ins.
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("FATHOM_STANDIN_GPUS", str(gpus))
            patch.setenv("LD_LIBRARY_PATH", str(self.programs))
            self.agent = self.network.add_agent("alpha", config)
        wait_until(self.gpus, 120, "the memory manager's first report")

    def gpus(self, query="", rest=None):
        return (rest or self.network.rest).items("/shared-gpus" + query)

    def train(self, iterations=100_000_000, persistent=4 * MIB, temporary=16 * MIB, rest=None):
        """Weights of 4 MiB stay; 16 MiB of activations of two jobs do not fit at once."""
        command = [str(self.programs / "training_loop"), "iterations", str(iterations), "weights-mib", "4",
                   "activations-mib", "16", "tell", "yes", "host-us", "1000"]
        needs = {"persistent_bytes": persistent, "temporary_bytes": temporary}
        return self.network.submit(rest, name="train", command=command,
                                   units={"type": "part", "count": 1, "gpu_memory": needs})["id"]

    def submit(self, sharing, script="echo $FATHOM_DEVICES; sleep 600"):
        """A job that says which parts it has, and then keeps them."""
        return self.network.submit(script=script, units={"type": "part", "count": 1, "sharing": sharing})["id"]

    def parts_of(self, job):
        return wait_until(lambda: self.network.cli("job", "logs", job).strip(), 120, "the job's parts").split(",")

    def end(self, *jobs):
        for job in jobs:
            self.network.cli("job", "cancel", job)
            self.network.wait_job(job)


@pytest.fixture(scope="module")
def shared():
    gpu = SharedGpu()
    yield gpu
    gpu.network.close()


def test_two_jobs_that_do_not_fit_side_by_side_take_turns_and_everybody_is_told(shared):
    first, second = shared.train(), shared.train()

    def programs():
        jobs = {job["job"]: job for job in shared.gpus()[0]["jobs"]}
        return jobs if {first, second} <= jobs.keys() and all(job["switches"] > 0 for job in jobs.values()) else None

    jobs = wait_until(programs, 120, "both jobs having had their turns")
    gpu = shared.gpus(f"?job={first}")[0]
    assert (gpu["center"], gpu["gpu"], gpu["capacity_bytes"], gpu["is_shared"]) == ("alpha", GPU, CARD, True)
    assert gpu["persistent_bytes"] + gpu["temporary_bytes"] + gpu["free_bytes"] == CARD
    assert jobs[first]["persistent"]["room_bytes"] >= 4 * MIB and jobs[first]["temporary"]["room_bytes"] == 16 * MIB
    assert shared.gpus("?job=job_none") == [] and shared.gpus("?center=beta") == []
    wait_until(lambda: f'fathom_shared_gpu_programs{{center="alpha"}} {gpu["job_count"]}' in
               shared.network.rest.call("GET", "/metrics").text, 120, "the gauge")

    listed = shared.network.cli("unit", "gpus")
    assert GPU in listed and "2 programs, shared" in listed and first in listed and second in listed
    shown = shared.network.cli("unit", "show", "alpha/part")
    assert f"{GPU}: 2 programs, shared" in shown and first in shown and "turns given back" in shown, shown
    for command in ("show", "explain"):
        shown = shared.network.cli("job", command, first)
        assert f"{GPU}: shared with {second}" in shown and "turns given back" in shown, shown

    shared.end(first, second)
    wait_until(lambda: shared.gpus()[0]["job_count"] == 0, 120, "the GPU being empty")
    assert shared.gpus(f"?job={first}") == []
    for command in ("show", "explain"):
        shown = shared.network.cli("job", command, first)
        assert f"{GPU}: shared with {second}" in shown and "turns given back" in shown, shown


def test_a_job_is_refused_where_no_gpu_could_ever_hold_it_and_waits_for_none(shared):
    answer = shared.network.rest.call("POST", "/jobs", json={
        "command": ["true"], "units": {"gpu_memory": {"persistent_bytes": 12 * MIB, "temporary_bytes": 24 * MIB}}})
    assert answer.status_code == 422, answer.text
    assert [error["field"] for error in answer.json()["errors"]][0] == "units.gpu_memory", answer.text
    assert "alpha/part" in answer.text

    refused = shared.network.cli("job", "submit", "--gpu-persistent-bytes", 12 * MIB, "--gpu-temporary-bytes", 24 * MIB,
                                 "--", "true", expect=6)
    assert refused == ""


def test_a_job_that_does_not_fit_beside_others_waits_with_the_figures_until_it_does(shared):
    first = shared.train()
    wait_until(lambda: shared.gpus(f"?job={first}"), 120, "the first job on the GPU")
    second = shared.train(iterations=3, persistent=14 * MIB, temporary=12 * MIB)

    reason = "waits for GPU memory of alpha/part: the job needs 14.7 MB, and 12.6 MB within an iteration"
    wait_until(lambda: reason in shared.network.job(second)["waiting_reason"], 120, "the figures")
    assert reason in shared.network.cli("job", "explain", second)
    assert shared.network.job(first)["state"] == "running"
    shared.end(first)
    assert shared.network.wait_job(second)["state"] == "succeeded"


def test_a_program_that_does_not_fit_beside_others_fails_with_the_figures_and_hurts_nobody(shared):
    """Its job has not said what it needs."""
    first = shared.train()
    wait_until(lambda: shared.gpus(f"?job={first}"), 120, "the first job on the GPU")
    second = shared.network.submit(
        command=[str(shared.programs / "training_loop"), "iterations", "3", "weights-mib", "4", "activations-mib", "16"],
        environment={"FATHOM_GPU_PERSISTENT_BYTES": str(14 * MIB), "FATHOM_GPU_TEMPORARY_BYTES": str(12 * MIB)},
        units={"type": "part", "count": 1})["id"]

    ended = shared.network.wait_job(second)
    assert ended["state"] == "failed"
    output = shared.network.cli("job", "logs", second, "--stderr")
    assert "fathom-gpu: " in output and "free" in output, output
    assert shared.network.job(first)["state"] == "running"
    wait_until(lambda: shared.gpus()[0]["refused_count"] >= 1, 120, "the refusal being counted")
    shared.end(first)


def test_who_may_read_own_jobs_only_is_told_of_these_programs_only(shared):
    def user(name):
        token = shared.network.rest.post("/tokens", {"name": name, "role": "user"})["token"]
        return shared.network.rest_of(shared.network.server, token)

    ada, bob = user("ada"), user("bob")
    job = shared.train(rest=ada)
    wait_until(lambda: [p["job"] for p in shared.gpus(rest=ada)[0]["jobs"]] == [job], 120, "the program of one's own")
    seen = shared.gpus(rest=bob)[0]
    assert seen["jobs"] == [] and seen["job_count"] == 1
    shared.end(job)


def test_jobs_go_on_while_the_agent_is_away(shared):
    job = shared.train()
    wait_until(lambda: shared.gpus(f"?job={job}"), 120, "the job on the GPU")
    before = shared.gpus()[0]["jobs"][0]["process"]
    shared.agent.process.kill()
    shared.agent.process.start()
    wait_until(lambda: (lambda gpu: gpu["job_count"] == 1 and gpu["jobs"][0]["iterations"] > 0 and
                        gpu["jobs"][0]["persistent"]["used_bytes"] == 4 * MIB)(shared.gpus()[0]), 120,
               "the job in the books of the next agent")
    assert shared.gpus()[0]["jobs"][0]["process"] == before
    assert shared.network.job(job)["state"] == "running"
    shared.end(job)


def test_a_job_that_shares_no_gpu_waits_until_one_is_whole_and_has_it_alone(shared):
    neighbour = shared.submit("allowed")
    assert shared.parts_of(neighbour) == [f"{GPU}#0/4"]
    exclusive = shared.submit("exclusive")
    reason = "waits for a whole device of alpha/part (4 units), of which no other job has a part"
    wait_until(lambda: reason in shared.network.job(exclusive)["waiting_reason"], 120, "the reason why it waits")
    assert reason in shared.network.cli("job", "explain", exclusive)

    shared.end(neighbour)
    assert shared.parts_of(exclusive) == [f"{GPU}#{part}/4" for part in range(4)]
    assert "all parts of a device: sharing: exclusive, so no other job" in shared.network.cli("job", "explain", exclusive)
    refused = shared.submit("allowed")
    wait_until(lambda: shared.network.job(refused)["waiting_reason"], 120, "nobody getting a part beside it")
    assert shared.network.job(refused)["state"] == "queued"

    shared.end(exclusive)
    assert shared.parts_of(refused) == [f"{GPU}#0/4"]
    shared.end(refused)
    assert shared.network.cli("job", "submit", "--sharing", "exclusive", "--unit-type", "part", "--units", 5, "--", "true",
                              expect=6) == ""


def test_strangers_are_told_nothing(shared):
    answer = requests.get(shared.network.server.url + "/api/v1/shared-gpus", verify=str(shared.network.server.ca), timeout=60)
    assert answer.status_code == 401
