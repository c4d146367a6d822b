"""One bad item never stops the rest: each is really submitted, and everything else goes on at its pace."""
import os
import time

import pytest

from network import Network, agent_config

WAIT_LIMIT_S = 120


@pytest.fixture(scope="module")
def network():
    """Both centers offer the same cores: these jobs compute nothing."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    with Network() as net:
        for center in ("alpha", "beta"):
            net.add_agent(center, agent_config(cores=",".join(map(str, cores)), unit_count=len(cores)))
        yield net


def submit_bystanders(network):
    """What others want meanwhile: single jobs on each center, and a gang."""
    jobs = [network.submit(command=["true"], units={"center": center}) for center in ("alpha", "beta")]
    gang = {"id": f"pair-{time.time_ns()}", "size": 2}
    jobs += [network.submit(command=["true"], units={"center": center}, gang=gang) for center in ("alpha", "beta")]
    return [job["id"] for job in jobs]


def all_succeed(network, jobs):
    for job in jobs:
        ended = network.wait_job(job, WAIT_LIMIT_S)
        assert ended["state"] == "succeeded", (ended["end_reason"], ended["waiting_reason"])


def test_a_deadline_at_the_end_of_time(network):
    answer = network.rest.call("POST", "/jobs", json={"command": ["true"], "deadline": "9999-12-31T23:59:59-23:59"})
    assert answer.status_code == 400 and "deadline" in answer.text
    late = network.submit(command=["true"], deadline="9999-12-31T23:59:59Z")
    all_succeed(network, [late["id"], *submit_bystanders(network)])


def test_a_profile_that_is_nested_too_deeply(network):
    script = """#!/usr/bin/python3
import os, signal
with open(".fathom-profile.json", "w") as file:
    file.write('{"a":' * 30 + "{}" + "}" * 30)
print("computed for hours", flush=True)
os.kill(os.getppid(), signal.SIGKILL)
"""
    job = network.submit(script=script, profile=True)
    others = submit_bystanders(network)
    ended = network.wait_job(job["id"], WAIT_LIMIT_S)
    assert ended["attempt"]["outcome"] != "lost", ended["end_reason"]
    assert "computed for hours" in network.rest.call("GET", f"/jobs/{job['id']}/logs/stdout").text
    all_succeed(network, others)


def test_gangs_with_the_largest_input_that_there_may_be(network):
    """More of them at once than a connection lets wait is AgentSession.ManyLargeOrders…: here are too few cores."""
    connected_at = network.center("alpha")["connected_at"]
    large = []
    for number in range(6):
        job = {"command": ["true"], "files": {f"input-{i}": "x" * 1_000_000 for i in range(3)}, "units": {"center": "alpha"},
               "gang": {"id": f"large-{number}", "size": 2}}
        large += [network.submit(**job)["id"] for _ in range(2)]
    all_succeed(network, submit_bystanders(network) + large)
    assert network.center("alpha")["connected_at"] == connected_at, "its connection was closed"


def test_a_job_type_of_two_hundred_bytes_in_chinese(network):
    job_type = "计" * 66
    operators = [{"id": "dgemm", "parameters": {"m": 64, "n": 64, "k": 64}}]
    job = network.submit(command=["true"], type=job_type, operators=operators, metering_wait_s=5)
    others = submit_bystanders(network)
    all_succeed(network, [job["id"], *others])
    # Its probe task and the probes have names as well, cut between two characters.
    runs = network.rest.items(f"/probe-runs?page_size=100")
    assert runs, "it was measured before it was placed"

