"""What a job gets and how its end is told: the local executor behind a real agent, seen through REST."""
import os
import time

import pytest
import requests

from network import wait_until


def run(network, command=None, **spec):
    job = network.submit(command=command or ["sh", "-c", spec.pop("shell")], **spec)
    return network.wait_job(job["id"])


def stdout(network, job):
    return network.rest.call("GET", f"/jobs/{job['id']}/logs/stdout").content


def test_exit_codes_and_signals_are_told_truly(network):
    assert run(network, shell="exit 3")["exit_code"] == 3
    failed = run(network, shell="exit 3")
    assert failed["state"] == "failed" and "3" in failed["end_reason"]
    killed = run(network, shell="kill -SEGV $$")
    assert killed["state"] == "failed" and killed["attempt"]["signal"] == 11 and killed["exit_code"] is None


def test_a_program_that_does_not_exist_fails_with_the_reason(network):
    job = run(network, ["/no/such/program"])
    assert job["state"] == "failed" and job["attempt"]["outcome"] == "failed_to_start"
    assert job["attempt"]["cause"] == "program_not_started" and "no/such/program" in job["end_reason"]


def test_the_wall_limit_ends_the_whole_process_group(network):
    job = run(network, shell="sleep 1000 & sleep 1000", wall_limit_s=1)
    assert job["state"] == "failed" and job["attempt"]["outcome"] == "wall_limit"


def test_a_job_gets_what_its_units_hold_and_is_told_so(network):
    job = run(network, shell="echo $FATHOM_UNITS $FATHOM_CORES $OMP_NUM_THREADS $(nproc) $FATHOM_JOB_ID; id -u; pwd; umask",
              units={"center": "alpha"})
    lines = stdout(network, job).decode().splitlines()
    assert lines[0] == f"1 1 1 1 {job['id']}"
    if os.geteuid() == 0:
        assert lines[1] != "0", "users' jobs never run as root"
    assert lines[3] == "0077"


def test_variables_that_the_user_sets_win_and_files_are_there(network):
    job = run(network, shell="echo $OMP_NUM_THREADS; cat input.txt", environment={"OMP_NUM_THREADS": "7"},
              files={"input.txt": "grüße\n"})
    assert stdout(network, job).decode() == "7\ngrüße\n"


def test_a_script_runs_by_its_first_line(network):
    job = network.submit(name="script", script="#!/usr/bin/env python3\nprint(6 * 7)\n")
    assert network.wait_job(job["id"])["state"] == "succeeded"
    assert stdout(network, job) == b"42\n"


def test_output_is_streamed_while_the_job_runs(network):
    gate = network.folder / "may-go-on"
    job = network.submit(command=["sh", "-c", f"for i in 1 2; do echo line $i; until [ -e {gate} ]; do sleep 0.1; done; done"])
    answer = network.rest.call("GET", f"/jobs/{job['id']}/logs/stdout?follow=true", stream=True)
    pieces = answer.iter_content(None)
    assert next(pieces) == b"line 1\n", "before the job may go on"
    gate.touch()
    assert b"".join(pieces) == b"line 2\n"


def test_bytes_come_back_as_they_were_written(network):
    job = run(network, ["python3", "-c", "import sys; sys.stdout.buffer.write(bytes(range(256)) * 4096)"])
    # An end is told before the last of the output.
    wait_until(lambda: len(stdout(network, job)) >= job["attempt"]["stdout_bytes"], 120, "all of its output")
    assert stdout(network, job) == bytes(range(256)) * 4096
    tail = network.rest.call("GET", f"/jobs/{job['id']}/logs/stdout?offset_bytes=1048320").content
    assert tail == bytes(range(256))


def test_one_job_cannot_read_another_ones_folder(network):
    holder = network.submit(command=["sh", "-c", "pwd; echo secret > s; sleep 3"], units={"center": "alpha"})
    wait_until(lambda: stdout(network, holder).strip(), 120, "the folder's name")
    folder = stdout(network, holder).decode().strip()
    assert "/" in folder
    network.wait_job(holder["id"])
    wait_until(lambda: not os.path.exists(folder), what="the folder's removal, once the end was reported")


@pytest.mark.parametrize("moment", ["queued", "running"])
def test_a_job_can_be_cancelled(network, moment):
    blocker = network.submit(command=["sleep", "1000"], units={"center": "alpha"})
    wait_until(lambda: network.job(blocker["id"])["state"] == "running", 120, "running")
    job = blocker
    if moment == "queued":
        job = network.submit(command=["sleep", "1000"], units={"center": "alpha"})
        wait_until(lambda: "alpha" in network.job(job["id"])["waiting_reason"], 120, "the reason for waiting")
    assert network.rest.call("POST", f"/jobs/{job['id']}:cancel").status_code == 202
    assert network.wait_job(job["id"])["state"] == "cancelled"
    if moment == "queued":
        assert network.job(job["id"])["attempt"] is None
        network.rest.call("POST", f"/jobs/{blocker['id']}:cancel")
        network.wait_job(blocker["id"])
    assert network.rest.call("POST", f"/jobs/{job['id']}:cancel").status_code == 409


def test_units_are_never_sold_twice(network):
    jobs = [network.submit(command=["sleep", "0.3"]) for _ in range(8)]
    ended = [network.wait_job(job["id"]) for job in jobs]
    for center in ("alpha", "beta"):
        spans = sorted((j["started_at"], j["ended_at"]) for j in ended if j["attempt"]["center"] == center)
        assert all(a[1] <= b[0] for a, b in zip(spans, spans[1:])), spans


def test_a_drained_center_gets_no_new_work(network):
    refused = network.rest.call("PATCH", "/centers/beta", json={"drain_reason": "without a drain"})
    assert refused.status_code == 400 and "drained" in refused.text
    network.cli("center", "drain", "beta", "--reason", "new kernel")
    assert "drained: new kernel" in network.cli("center", "list")
    try:
        jobs = [network.submit(command=["true"]) for _ in range(3)]
        assert {network.wait_job(j["id"])["attempt"]["center"] for j in jobs} == {"alpha"}
        waiting = network.submit(command=["true"], units={"center": "beta"})
        wait_until(lambda: "the center is drained: new kernel" in network.job(waiting["id"])["waiting_reason"], 120,
                   "the reason")
    finally:
        network.rest.call("PATCH", "/centers/beta", json={"drained": False})
    assert network.wait_job(waiting["id"])["attempt"]["center"] == "beta"


def test_pages_hold_every_job_once(network):
    network.rest.post("/jobs", [{"command": ["true"], "name": f"page-{i}"} for i in range(25)])
    seen, token = [], None
    while True:
        page = network.rest.get("/jobs?page_size=7" + (f"&page_token={token}" if token else ""))
        seen += [j["id"] for j in page["items"]]
        token = page["next_page_token"]
        if not token:
            break
    assert len(seen) == len(set(seen)) and seen == sorted(seen, reverse=True)
    names = {j["name"] for j in network.rest.items("/jobs")}
    assert names >= {f"page-{i}" for i in range(25)}
    for job in network.rest.items("/jobs"):
        network.wait_job(job["id"])


def test_live_events_can_be_resumed(network):
    rest = network.rest
    headers = {"Accept": "text/event-stream", **rest.session.headers}
    job = network.submit(command=["true"])
    network.wait_job(job["id"])
    events = rest.items(f"/jobs/{job['id']}/events")

    with requests.get(f"{rest.url}/api/v1/events?job={job['id']}", headers={**headers, "Last-Event-ID": str(events[0]["id"])},
                      verify=rest.session.verify, stream=True, timeout=60) as stream:
        assert stream.headers["Content-Type"].startswith("text/event-stream")
        ids = []
        for line in stream.iter_lines():
            if line.startswith(b"id:"):
                ids.append(int(line.split(b":")[1]))
            if len(ids) == len(events) - 1:
                break
    assert ids == [e["id"] for e in events[1:]]


def known_short(network, name):
    """A job of a type that has run at alpha until it is believed to be short there; on a busy machine that takes more runs."""
    job = {"type": f"jobs/{name}", "units": {"center": "alpha", "count": 1},
           "operators": [{"id": "dgemm", "parameters": {"m": 64, "n": 64, "k": 64}, "count": 1}]}

    def place():
        return network.rest.post("/placements:preview", {**job, "command": ["true"]}, expect=200)["decision"]["candidates"][0]

    def learned_runs():
        return (place()["correction"] or {"job_count": 0})["job_count"]

    def is_believed():
        before = learned_runs()
        assert run(network, ["true"], **job)["state"] == "succeeded"
        # A slow run that is learned later would take the belief away again.
        wait_until(lambda: learned_runs() > before, 120, f"a run of jobs/{name} being learned")
        return before >= 2 and place()["prediction"]["high_s"] <= 1
    wait_until(is_believed, 240, f"jobs/{name} being known as short")
    return job


def waits_at_its_center(network, job):
    return any("waits for its unit at the center" in event["cause"]
               for event in network.rest.items(f"/jobs/{job['id']}/events"))


def submit_until_one_waits(network, name, count):
    """Jobs of a type that is believed to be short, which run until there is a file; the first one of them that waits for its
    unit at the center; the file. What is learned meanwhile of a slow run takes the belief away: then it is won again."""
    for number in range(5):
        job = known_short(network, name)
        gate = network.folder / f"{name}-{number}-may-end"
        command = ["sh", "-c", f"until [ -e {gate} ]; do sleep 0.1; done"]
        jobs = network.rest.post("/jobs", [{**job, "command": command}] * count)["items"]
        end = time.monotonic() + 40
        while time.monotonic() < end:
            for one in map(lambda j: network.job(j["id"]), jobs):
                if one["state"] == "dispatched" and waits_at_its_center(network, one):
                    return jobs, one, gate
            time.sleep(0.05)
        gate.touch()
        for one in jobs:
            network.wait_job(one["id"])
    raise AssertionError("no job waited at its center")


def test_short_jobs_wait_for_their_unit_at_the_center(network):
    for _ in range(5):  # a slow run that is learned just before takes the belief away: then it is won again
        job = known_short(network, "burst")
        jobs = network.rest.post("/jobs", [{**job, "command": ["true"]}] * 40)["items"]
        ended = [network.wait_job(one["id"]) for one in jobs]
        assert [one["state"] for one in ended] == ["succeeded"] * 40
        ran = sorted((one["started_at"], one["ended_at"]) for one in ended)
        assert all(ended_at <= next_started for (_, ended_at), (next_started, _) in zip(ran, ran[1:])), "two on one unit"
        if any(waits_at_its_center(network, one) for one in ended):
            break
    assert any(waits_at_its_center(network, one) for one in ended)
    wait_until(lambda: sum(unit_type["units_in_use"] for unit_type in network.rest.items("/unit-types?center=alpha")) == 0, 120,
               "all units being free again")


def test_a_job_that_waits_at_its_center_is_cancelled_before_it_starts(network):
    jobs, waiting, gate = submit_until_one_waits(network, "cancelled", 4)
    network.cli("job", "cancel", waiting["id"])
    cancelled = network.wait_job(waiting["id"])
    assert cancelled["state"] == "cancelled" and cancelled["started_at"] is None
    gate.touch()
    others = [network.wait_job(job["id"])["state"] for job in jobs if job["id"] != waiting["id"]]
    assert others == ["succeeded"] * 3


def test_jobs_that_wait_at_their_center_survive_its_agent(network):
    jobs, _, gate = submit_until_one_waits(network, "killed", 4)
    agent = network.agents[0]
    agent.process.kill()
    gate.touch()
    agent.start()
    assert [network.wait_job(job["id"])["state"] for job in jobs] == ["succeeded"] * 4
